#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/device/sim/fork_servers.hpp"

namespace nkigrid::device {

/// What came back from a tracer child. Everything in a reply was written by the child and is judged before it is
/// believed.
struct TracerReply {
  bool ok = false;
  std::string program, entry;
  Diagnostic diagnostic;
  std::vector<std::string> warnings;
};

struct TracerResult {
  enum class Kind {
    replied,
    denied,    ///< it did what no kernel may do (SIGSYS); `words` say what
    died,      ///< it ended without a reply; `words` say how
    late,      ///< killed at the deadline
    machinery  ///< the server or the socket failed
  };
  Kind kind = Kind::machinery;
  TracerReply reply;
  std::string words;
};

/// The head of a request to a child that compiles: entry, arguments, outputs, options (docs/formats/child_protocol.md).
std::string tracer_request(const jobs::NkiOptions& options, const jobs::Task& task,
                           const std::optional<std::string>& entry);
/// Its reply, with what it may not claim taken out: a code is a compiler's or COMPILER_INTERNAL, texts are valid and of
/// bounded length.
/// @throws nlohmann::json::exception when it is no reply
TracerReply parse_tracer_reply(proc::Frame frame);

/// Traces one kernel in a single-use child. @param timeout [s], from now. @throws ServerLost when there is no server
/// any more
TracerResult trace_in_child(ForkServers& servers, const jobs::NkiOptions& options, const jobs::Task& task,
                            const std::string& source, const std::optional<std::string>& entry, Seconds timeout);

}  // namespace nkigrid::device
