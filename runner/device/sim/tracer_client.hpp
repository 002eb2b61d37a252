#pragma once

#include <optional>
#include <string>

#include "runner/device/shared/compile_frames.hpp"
#include "runner/device/sim/fork_servers.hpp"

namespace nkigrid::device {

/// How one trace ended.
struct TracerResult {
  enum class Kind {
    replied,
    denied,    ///< it did what no kernel may do (SIGSYS); `words` say what
    died,      ///< it ended without a reply; `words` say how
    late,      ///< killed at the deadline
    machinery  ///< the server or the socket failed
  };
  Kind kind = Kind::machinery;
  CompileReply reply;
  std::string words;
};

/// Traces one kernel in a single-use child. @param timeout [s], from now. @throws DeviceLost when there is no server
/// any more
TracerResult trace_in_child(ForkServers& servers, const jobs::NkiOptions& options, const jobs::Task& task,
                            const std::string& source, const std::optional<std::string>& entry, Seconds timeout);

}  // namespace nkigrid::device
