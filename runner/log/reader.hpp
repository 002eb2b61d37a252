#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "runner/log/left_out.hpp"
#include "runner/log/records.hpp"
#include "runner/log/run_log.hpp"

namespace nkigrid::log {

/// Which parts of turn rows to read: tables need no texts.
enum class Texts { skip, load };

/// Everything the log of a run knows, sealed and unsealed alike, in no particular order between files and in
/// order within one. Journal records that a segment covers are skipped: every record comes once. A callback
/// left empty spares the reading of what only it needs. Without texts, request, reply, raw, kernel,
/// tool_output and reason are empty.
struct LogVisitor {
  std::function<void(const Begin&)> begin;
  std::function<void(const Reply&)> reply;
  std::function<void(const Turn&)> turn;
  std::function<void(const End&)> end;
  std::function<void(const LogHeader&)> head;               ///< of each file that counts
  std::function<void(const std::string& warning)> warning;  ///< damage, with file and bytes
  std::function<void(const LeftOut&)> left_out;             ///< a copy, or a file of another run
};

/// @param log its folder may be absent or empty
/// @throws Error{io}, Error{corrupt}, also where two files tell one attempt differently (left_out.hpp)
void read_log(const RunLog& log, Texts texts, const LogVisitor& visitor);

}  // namespace nkigrid::log
