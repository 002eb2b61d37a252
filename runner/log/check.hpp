#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nkigrid::log {

/// What a full reading of one file of the log found.
struct FileCheck {
  std::filesystem::path file;
  std::uint64_t records = 0, first_sequence = 0, last_sequence = 0;
  std::uint64_t torn_tail_bytes = 0;  ///< no damage: the writer died, or is writing now
  std::uint64_t damaged_bytes = 0, missing_records = 0;
  bool is_sealed = false;  ///< a segment: what sealing had to skip is counted in it, and known
  std::string error;       ///< why the file cannot be read at all, or ""

  bool damaged() const noexcept { return !error.empty() || (!is_sealed && (damaged_bytes > 0 || missing_records > 0)); }
};

/// Reads every record and text of every file of a log folder, in the order of their names. Damage is in the
/// result, never thrown.
/// @throws Error{io} when the folder or a file cannot be read
std::vector<FileCheck> check_log(const std::filesystem::path& folder);

}  // namespace nkigrid::log
