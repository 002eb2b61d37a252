#include "runner/device/sim/session.hpp"

#include <signal.h>

#include <array>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/device/shared/limits.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;

RunReport parse_report(const json& head) {
  RunReport report;
  report.code = parse_code(head.at("code").get<std::string>()).value_or(Code::none);
  report.line = head.at("line");
  report.message = head.at("message");
  report.hints = head.at("hints").get<std::vector<std::string>>();
  report.unwritten = head.at("unwritten").get<std::vector<std::uint64_t>>();
  return report;
}

}  // namespace

SimSession::SimSession(ForkServers& servers, OutputPool& pool, const jobs::Task& task, const std::string& program)
    : server_(servers.run()), server_pid_(server_.pid()), memory_(pool, task), job_(server_.start()) {
  const auto head = first_head(memory_.layout(), kSlots);
  const std::array<int, 1> descriptors = {memory_.descriptor()};
  // A child that is gone already shows at the first run.
  static_cast<void>(proc::write_frame(job_.work(), head, program, descriptors, proc::deadline_after(kSendSeconds)));
}

SimSession::~SimSession() {
  if (over_) return;
  job_.cancel();
  try {
    memory_.give_back_after(std::move(job_));
  } catch (const std::exception&) {
    // Memory that cannot be kept is memory made anew.
  }
}

RunOutcome SimSession::ended() {
  over_ = true;
  const auto end = job_.end(kEndGrace, kReapTime);
  if (!end) {
    memory_.abandon();
    server_.give_up(server_pid_);
    return run_ended(RunOutcome::Kind::machinery, "the run server gives no answers");
  }
  const auto* signaled = std::get_if<proc::Signaled>(&end->end);
  const bool denied = signaled != nullptr && signaled->signal == SIGSYS;
  return run_ended(denied ? RunOutcome::Kind::denied : RunOutcome::Kind::crashed, proc::describe(end->end));
}

void SimSession::send(const RunQuestion& question, const TensorFile& arguments, const Poison& poison,
                      proc::Deadline deadline) {
  const std::array<int, 1> descriptors = {arguments.fd.get()};
  // A child that is gone shows where its answer is read.
  static_cast<void>(proc::write_frame(job_.work(), run_head(question, arguments, poison), {}, descriptors, deadline));
}

void SimSession::expect(const TensorFile& arguments, std::size_t slot, const Poison& poison) {
  try {
    send(IntoSlot{slot}, arguments, poison, proc::deadline_after(kSendSeconds));
    ++expected_;
  } catch (const std::exception&) {
    // Then run() says it, and fails as this did.
  }
}

RunOutcome SimSession::ask(const RunQuestion& question, const TensorFile& arguments, const Poison& poison,
                           Seconds timeout) {
  try {
    const auto deadline = proc::deadline_after(timeout.count());
    if (expected_ > 0)
      --expected_;
    else
      send(question, arguments, poison, deadline);
    auto read = proc::read_frame(job_.work(), deadline);
    if (read.end == proc::ReadEnd::late) {
      job_.cancel();
      auto outcome = ended();
      // Who could not kill the child in time may not have given it its time either.
      return outcome.kind == RunOutcome::Kind::machinery ? outcome : run_ended(RunOutcome::Kind::late);
    }
    if (read.end != proc::ReadEnd::frame) {
      job_.cancel();
      return ended();
    }
    const auto reply = json::parse(read.frame.head);
    if (!reply.contains("error")) return run_ended(RunOutcome::Kind::ran, std::move(read.frame.head));
    auto outcome = ended();
    outcome.words = reply.at("error");
    return outcome;
  } catch (const std::exception& error) {
    return run_ended(RunOutcome::Kind::machinery, error.what());
  }
}

RunOutcome SimSession::run(const TensorFile& arguments, std::size_t slot, const Poison& poison, Seconds timeout) {
  auto outcome = ask(IntoSlot{slot}, arguments, poison, timeout);
  if (outcome.kind != RunOutcome::Kind::ran) return outcome;
  try {
    return run_reported(parse_report(json::parse(outcome.words)));
  } catch (const std::exception& error) {
    return run_ended(RunOutcome::Kind::machinery, error.what());
  }
}

Explanation SimSession::explain(const TensorFile& arguments, Seconds timeout) {
  Explanation found;
  try {
    const auto outcome = ask(Explain{}, arguments, {}, timeout);
    if (outcome.kind != RunOutcome::Kind::ran) return found;
    const auto reply = json::parse(outcome.words);
    found.causes = reply.at("causes").get<std::vector<std::string>>();
    found.narrow = reply.at("narrow").get<std::vector<std::string>>();
  } catch (const std::exception&) {
    // Words only: a verdict never depends on them.
  }
  return found;
}

std::optional<std::vector<std::string>> SimSession::compare_orders(const TensorFile& arguments, std::uint64_t seed,
                                                                   Seconds timeout) {
  try {
    const auto outcome = ask(CompareOrders{seed}, arguments, {}, timeout);
    if (outcome.kind != RunOutcome::Kind::ran) return std::nullopt;
    std::vector<std::string> found;
    const auto reply = json::parse(outcome.words);  // outlives the loop over its part
    for (const auto& finding : reply.at("orders")) found.push_back(finding.at("text").get<std::string>());
    return found;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace nkigrid::device
