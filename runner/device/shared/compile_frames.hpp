#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/device/values.hpp"
#include "runner/proc/frame.hpp"

namespace nkigrid::device {

// What is said to a child that compiles one kernel, and what it answers (docs/formats/child_protocol.md).

/// The head of the request: entry, arguments, outputs, options. Its body is the source.
std::string compile_head(const jobs::NkiOptions& options, const jobs::Task& task,
                         const std::optional<std::string>& entry);

/// What came back. The kernel ran in that child and may have written all of it.
struct CompileReply {
  bool ok = false;
  std::string artifact, entry;
  Diagnostic diagnostic;
  std::vector<std::string> warnings;
  std::string doubt;  ///< why the machine may be at fault; "": the child says nothing of it
};

/// The reply, with what it may not claim taken out: a code is a compiler's or COMPILER_INTERNAL, texts are valid and of
/// bounded length. Whether the artifact is one is the caller's to prove.
/// @throws nlohmann::json::exception when it is no reply
CompileReply parse_compile_reply(proc::Frame frame);

}  // namespace nkigrid::device
