#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/device/values.hpp"

namespace nkigrid::device {

// The lines of docs/formats/command_protocol.md, version 1: pure functions between values and text.

enum class CommandStep { compile, run };

/// What a site's program answered. @source docs/formats/command_protocol.md
struct CommandReply {
  bool ok = false;
  Diagnostic diagnostic;  ///< when not ok
  std::vector<std::string> warnings, hints;
  std::string artifact;  ///< compile: name of a file in the scratch folder
  std::string entry;
  std::size_t constant_bytes = 0;
  double estimate_us = std::numeric_limits<double>::quiet_NaN();
};

/// @throws Error{external} that says what is wrong with the line: no JSON, a missing or wrongly typed key, a code that
/// this step may not answer. Keys it does not know are passed over.
CommandReply parse_command_reply(std::string_view line, CommandStep step);

struct CompileRequest {
  const jobs::NkiOptions& options;
  const jobs::Task& task;
  std::filesystem::path scratch, source;
  std::optional<std::string> entry;
  Seconds timeout;
};
/// One line with its end.
std::string to_line(const CompileRequest& request);

struct RunInput {
  std::size_t offset = 0, bytes = 0;
};
struct RunRequest {
  const jobs::NkiOptions& options;
  const jobs::Task& task;
  std::filesystem::path scratch, artifact, inputs;
  std::string entry;
  std::vector<RunInput> places;  ///< one an input, in `inputs`
  std::vector<std::filesystem::path> outputs;
  Seconds timeout;
  Poison poison;  ///< what the outputs hold; a simulator may fill undefined memory with it
};
std::string to_line(const RunRequest& request);

}  // namespace nkigrid::device
