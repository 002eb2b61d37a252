#pragma once

#include <cerrno>
#include <system_error>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid::proc {

/// Every call that builds a wall comes through here: one that failed unseen would leave a door.
/// @param done whether it succeeded; errno is then told
/// @throws Error{external} naming the step
inline void must(bool done, const char* step) {
  if (!done)
    throw Error(ErrorCode::external,
                fmt::format("sandbox: cannot {}: {}", step, std::generic_category().message(errno)));
}

}  // namespace nkigrid::proc
