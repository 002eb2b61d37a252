#include "runner/device/sim/tracer_client.hpp"

#include <signal.h>

#include <variant>

#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;

constexpr std::size_t kMostMessageBytes = 256 * 1024;
constexpr std::size_t kMostWarnings = 50;
constexpr std::string_view kWarningPrefix = "warning (not blocking): ";
// How long a server may take to reap a child and say so.

/// The code a child may claim: one of the compiler's. A verdict of the machinery is not its to give.
Code believable(const std::string& word) {
  const auto code = parse_code(word);
  if (!code || *code == Code::none || *code == Code::infra || *code == Code::rule_violation)
    return Code::compiler_internal;
  return outcome_of(*code, Stage::trace) == Outcome::compile_fail ? *code : Code::compiler_internal;
}

/// How a child ended that gave no reply.
TracerResult without_reply(const std::optional<proc::JobEnd>& end) {
  TracerResult result;
  if (!end) return result;
  result.words = proc::describe(end->end);
  const auto* signaled = std::get_if<proc::Signaled>(&end->end);
  if (signaled != nullptr && signaled->signal == SIGSYS) {
    result.kind = TracerResult::Kind::denied;
    result.words = end->note.empty() ? "a system call that is denied to kernels" : end->note;
  } else {
    result.kind = TracerResult::Kind::died;
  }
  return result;
}

TracerResult trace(proc::Job& job, const std::string& head, const std::string& source, Seconds timeout) {
  const auto deadline = proc::deadline_after(timeout.count());
  // A child that is gone already shows at the read.
  static_cast<void>(proc::write_frame(job.work(), head, source, {}, deadline));
  auto read = proc::read_frame(job.work(), deadline);
  if (read.end == proc::ReadEnd::late) {
    job.cancel();
    static_cast<void>(job.wait(proc::deadline_after(kReapSeconds)));
    return {TracerResult::Kind::late, {}, {}};
  }
  if (read.end == proc::ReadEnd::frame) {
    try {
      return {TracerResult::Kind::replied, parse_tracer_reply(std::move(read.frame)), {}};
    } catch (const json::exception&) {
      return {TracerResult::Kind::died, {}, "it answered with something that is no reply"};
    }
  }
  if (read.end == proc::ReadEnd::broken) job.cancel();
  auto result = without_reply(job.wait(proc::deadline_after(kReapSeconds)));
  if (read.end == proc::ReadEnd::broken && result.kind == TracerResult::Kind::died)
    result.words = "it answered with something that is no reply";
  return result;
}

}  // namespace

std::string tracer_request(const jobs::NkiOptions& options, const jobs::Task& task,
                           const std::optional<std::string>& entry) {
  json request = {
      {"entry", entry ? json(*entry) : json()},
      {"params", json::array()},
      {"outputs", json::array()},
      {"options",
       {{"sdk", options.sdk}, {"target", options.target}, {"strict_paper_names", options.strict_paper_names}}}};
  for (const auto& input : task.inputs)
    request["params"].push_back({{"name", input.name}, {"shape", input.shape}, {"dtype", input.dtype}});
  for (const auto& output : task.outputs)
    request["outputs"].push_back({{"shape", output.shape}, {"dtype", output.dtype}});
  return request.dump(-1, ' ', false, json::error_handler_t::replace);
}

TracerReply parse_tracer_reply(proc::Frame frame) {
  const auto head = json::parse(frame.head);
  TracerReply reply;
  reply.ok = head.at("ok");
  reply.entry = to_valid_utf8(head.at("entry").get<std::string>());
  for (const auto& warning : head.at("warnings")) {
    if (reply.warnings.size() == kMostWarnings) break;
    auto text = to_valid_utf8(warning.get<std::string>());
    reply.warnings.push_back(text.starts_with(kWarningPrefix) ? text : std::string(kWarningPrefix) + text);
  }
  if (reply.ok) {
    reply.program = std::move(frame.body);
    return reply;
  }
  reply.diagnostic.code = believable(head.at("code"));
  reply.diagnostic.stage = parse_stage(head.at("stage").get<std::string>()).value_or(Stage::trace);
  if (reply.diagnostic.stage > Stage::backend || reply.diagnostic.stage == Stage::none)
    reply.diagnostic.stage = Stage::trace;
  reply.diagnostic.line = head.at("line");
  reply.diagnostic.message = elide_middle(to_valid_utf8(head.at("message").get<std::string>()), kMostMessageBytes);
  return reply;
}

TracerResult trace_in_child(ForkServers& servers, const jobs::NkiOptions& options, const jobs::Task& task,
                            const std::string& source, const std::optional<std::string>& entry, Seconds timeout) {
  const auto head = tracer_request(options, task, entry);
  TracerResult result;
  // A server that dies takes its jobs with it, whoever was to blame; the job is tried once more on the next one.
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto job = servers.tracer().start();
    try {
      result = trace(job, head, source, timeout);
    } catch (const Error& error) {
      result = {TracerResult::Kind::machinery, {}, error.what()};
    }
    if (result.kind != TracerResult::Kind::machinery) break;
  }
  return result;
}

}  // namespace nkigrid::device
