#pragma once

#include <signal.h>

#include <algorithm>
#include <array>
#include <variant>

#include "runner/proc/child.hpp"

namespace nkigrid::device {

/// True when a program ended by what a batch system sends to everybody: no kernel kills its compiler by these, so such
/// an end says nothing of the kernel.
inline bool was_stopped(const proc::ChildEnd& end) noexcept {
  constexpr std::array kStopSignals = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
  const auto* signaled = std::get_if<proc::Signaled>(&end);
  return signaled != nullptr &&
         std::find(kStopSignals.begin(), kStopSignals.end(), signaled->signal) != kStopSignals.end();
}

}  // namespace nkigrid::device
