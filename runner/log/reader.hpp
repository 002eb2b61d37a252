#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "runner/log/records.hpp"

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
  std::function<void(const std::string& warning)> warning;  ///< damage, with file and bytes
};

/// @param folder RUN/log; absent or empty is no error. @throws Error{io}, Error{corrupt}
void read_log(const std::filesystem::path& folder, Texts texts, const LogVisitor& visitor);

}  // namespace nkigrid::log
