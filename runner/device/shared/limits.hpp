#pragma once

#include <cstdint>

#include "runner/proc/frame.hpp"

namespace nkigrid::device {

/// Most bytes of what a vendor's compiler makes, a NEFF. Programs of the simulator stay under the usual limit of a
/// frame.
inline constexpr std::uint32_t kMostArtifactBytes = 256U << 20;
/// Of frames that may carry one.
inline constexpr proc::FrameLimits kArtifactFrame{1 << 20, kMostArtifactBytes};

/// For an artifact and its first frame to be taken by a child that has nothing else to do [s].
inline constexpr double kSendSeconds = 60;
/// What a child waits with [s]: deadlines are its parent's, which ends a child that is late.
inline constexpr double kForeverSeconds = 86400;

}  // namespace nkigrid::device
