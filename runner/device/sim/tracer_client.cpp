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
      return {TracerResult::Kind::replied, parse_compile_reply(std::move(read.frame)), {}};
    } catch (const nlohmann::json::exception&) {
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

TracerResult trace_in_child(ForkServers& servers, const jobs::NkiOptions& options, const jobs::Task& task,
                            const std::string& source, const std::optional<std::string>& entry, Seconds timeout) {
  const auto head = compile_head(options, task, entry);
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
