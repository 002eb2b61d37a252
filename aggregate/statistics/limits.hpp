#pragma once

#include <cstddef>

namespace nkigrid::aggregate {

/// So few tasks that vary, pass or fail leave a resampling interval no lattice to speak of: closed forms take over
/// there (docs/decisions/intervals.md).
inline constexpr std::ptrdiff_t kFewTasks = 5;

/// Relative: how near a cumulated sum must come to a probability to count as equal.
inline constexpr double kTie = 1e-12;

/// Most threads of one drawing; the numbers do not depend on it.
inline constexpr unsigned kMaxThreads = 4;

}  // namespace nkigrid::aggregate
