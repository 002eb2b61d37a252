#include "runner/stopper.hpp"

#include <csignal>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "runner/log/stopped_by.hpp"

namespace nkigrid::runner {
namespace {

std::string signal_text(int signal) {
  return signal == SIGUSR1 ? "SIGUSR1 (the time limit is near)" : signal == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace

std::optional<Trouble> Stopper::look(int signal, Seconds now) {
  std::optional<Trouble> news;
  if (signal != std::exchange(seen_, signal)) {
    plan_.signal(signal, now);
    reason_ = signal_text(signal);
    news = Trouble{.exit_code = signal == SIGINT ? ExitCode::interrupted : ExitCode::incomplete,
                   .reason = reason_,
                   .at_once = signal != SIGUSR1};
  }
  const auto stage = plan_.stage(now);
  if (stage == StopStage::abandon) abandon();
  if (stage > stage_) {  // an end that moves back undoes nothing
    stage_ = stage;
    stage == StopStage::closed ? lanes_.close() : lanes_.drain();
  }
  if (stage == StopStage::last_call && reason_.empty()) {
    reason_ = "time limit";
    news = Trouble{.exit_code = ExitCode::incomplete, .reason = reason_};
  }
  return news;
}

/// Threads may be stuck in a compile or a request: what is durable stays, the rest belongs to the next attempt.
void Stopper::abandon() {
  if (reason_.empty()) reason_ = "time limit";
  notice("rank {}: {} turns in flight did not end in time and are left to the next attempt", rank_, lanes_.running());
  notice("stopped by {}", reason_);
  try {
    if (rank_ == 0) log::note_stopped_by(run_.log_folder(), options_.shard, reason_);
  } catch (const Error& error) {
    warn("{}", error.what());
  }
  std::_Exit(static_cast<int>(ExitCode::incomplete));
}

}  // namespace nkigrid::runner
