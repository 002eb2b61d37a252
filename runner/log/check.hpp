#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/log/run_log.hpp"

namespace nkigrid::log {

/// What a full reading of one file of the log found.
struct FileCheck {
  std::filesystem::path file;
  std::uint64_t records = 0, first_sequence = 0, last_sequence = 0;
  std::uint64_t torn_tail_bytes = 0;  ///< no damage: the writer died, or is writing now
  std::uint64_t damaged_bytes = 0, missing_records = 0;
  bool is_sealed = false;  ///< a segment: what sealing had to skip is counted in it, and known
  std::string left_out;    ///< why it is passed over where that costs nothing (others hold all of it), or ""
  /// Nothing of it can be saved: it tells what others tell, differently, or is of another run, or the run's key has not
  /// sealed it. What to do stands in `error`.
  bool is_beyond_saving = false;
  std::string error;  ///< why it cannot be read or does not count, or ""

  bool damaged() const noexcept { return !error.empty() || (!is_sealed && (damaged_bytes > 0 || missing_records > 0)); }
};

/// Reads every record and text of every file of a log's folder, in the order of their names, and holds the files
/// against each other (left_out.hpp). What is wrong is in the result, never thrown.
/// @throws Error{io} when the folder or a file cannot be read
std::vector<FileCheck> check_log(const RunLog& log);

}  // namespace nkigrid::log
