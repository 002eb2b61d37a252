#include "runner/device/sim/tracer_client.hpp"

#include <signal.h>

#include <variant>

#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"

namespace nkigrid::device {
namespace {

/// How a child ended that gave no reply.
TracerResult without_reply(const std::optional<proc::JobEnd>& end) {
  TracerResult result;
  if (!end) return result;
  // Killed by us: it had closed its answer.
  const bool went_on = std::holds_alternative<proc::TimedOut>(end->end);
  result.words = went_on ? "it closed its answer and went on" : proc::describe(end->end);
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
    // Who could not kill the child in time may not have given it its time either.
    if (job.wait(proc::deadline_after(kReapTime.count()))) return {TracerResult::Kind::late, {}, {}};
    return {TracerResult::Kind::machinery, {}, "the tracer server gives no answers"};
  }
  if (read.end == proc::ReadEnd::frame) {
    try {
      return {TracerResult::Kind::replied, parse_compile_reply(std::move(read.frame)), {}};
    } catch (const nlohmann::json::exception&) {
      return {TracerResult::Kind::died, {}, "it answered with something that is no reply"};
    }
  }
  auto result = without_reply(job.end(read.end == proc::ReadEnd::broken ? Seconds(0) : kEndGrace, kReapTime));
  if (read.end == proc::ReadEnd::broken && result.kind == TracerResult::Kind::died)
    result.words = "it answered with something that is no reply";
  return result;
}

}  // namespace

TracerResult trace_in_child(ForkServers& servers, const jobs::NkiOptions& options, const jobs::Task& task,
                            const std::string& source, const std::optional<std::string>& entry, Seconds timeout) {
  const auto head = compile_head(options, task, entry);
  TracerResult result;
  // A server that dies takes its jobs with it, whoever was to blame; the job is tried once more on the next one.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const pid_t server = servers.tracer().pid();
    auto job = servers.tracer().start();
    try {
      result = trace(job, head, source, timeout);
    } catch (const Error& error) {
      result = {TracerResult::Kind::machinery, {}, error.what()};
    }
    if (result.kind != TracerResult::Kind::machinery) break;
    servers.tracer().give_up(server);
  }
  return result;
}

}  // namespace nkigrid::device
