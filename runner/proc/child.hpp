#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "jobs/base/clock.hpp"

namespace nkigrid::proc {

struct Exited {
  int status = 0;
};
struct Signaled {
  int signal = 0;
};
struct TimedOut {};
struct NotStarted {
  std::string reason;
};
/// How a child ended; never a raw wait status.
using ChildEnd = std::variant<Exited, Signaled, TimedOut, NotStarted>;

/// "exited with status 3", "killed by signal 11 (Segmentation fault)", "timed out", "did not start: ...".
std::string describe(const ChildEnd& end);

/// True for Exited{0}.
bool is_success(const ChildEnd& end) noexcept;

struct CommandResult {
  ChildEnd end;
  std::string out, err;                        ///< bounded: head and tail are kept while the pipes are drained
  std::uint64_t out_bytes = 0, err_bytes = 0;  ///< what was written in all
  std::string out_sha256, err_sha256;          ///< of all that was written, kept or not
};

/// Runs a program in its own process group with stdin from /dev/null, kills it and all its descendants at the deadline,
/// and when this process ends (bound_child.hpp).
///
/// The program's exit ends the wait, not the end of its pipes: a grandchild that holds them does not hold us. Whoever
/// is left then is killed; what the pipes hold is still read.
/// @param argv absolute path first; not searched on PATH
/// @param environment NAME=value, all there is
/// @param keep_bytes kept a stream; half of it head, half of it tail
/// @param scratch a folder of the caller's that is removed where he dies before the program ends; "": none
/// @threads safe. Never throws for what the program does; a program that cannot be started is NotStarted.
/// @throws Error{interrupted} for a signal that is held back (held_signals.hpp), with the group killed
CommandResult run_command(const std::vector<std::string>& argv, Seconds timeout,
                          const std::vector<std::string>& environment, std::size_t keep_bytes = 1 << 20,
                          const std::filesystem::path& scratch = {});

}  // namespace nkigrid::proc
