#pragma once

#include <cstddef>

namespace nkigrid::aggregate {

/// So few tasks that vary, pass or fail leave a drawn interval nothing to draw from (docs/decisions/intervals.md).
inline constexpr std::ptrdiff_t kFewTasks = 5;

/// Tasks from which on a level says how its tasks scatter.
inline constexpr std::size_t kLeastLevel = 5;

/// Most threads of one drawing; the numbers do not depend on it.
inline constexpr unsigned kMaxThreads = 4;

}  // namespace nkigrid::aggregate
