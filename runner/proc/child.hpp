#pragma once

#include <string>
#include <variant>
#include <vector>

#include "jobs/base/clock.hpp"

namespace nkigrid::proc {

struct Exited { int status = 0; };
struct Signaled { int signal = 0; };
struct TimedOut {};
struct NotStarted { std::string reason; };
/// How a child ended; never a raw wait status.
using ChildEnd = std::variant<Exited, Signaled, TimedOut, NotStarted>;

struct CommandResult {
  ChildEnd end;
  std::string out, err;          ///< bounded: head and tail are kept while the pipes are drained
  std::uint64_t out_bytes = 0, err_bytes = 0;  ///< what was written in all
};

/// Runs a program in its own process group with stdin from /dev/null, kills the whole group at the deadline.
CommandResult run_command(const std::vector<std::string>& argv, Seconds timeout, const std::vector<std::string>& environment,
                          std::size_t keep_bytes = 1 << 20);

}  // namespace nkigrid::proc
