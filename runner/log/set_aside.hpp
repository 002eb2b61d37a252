#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nkigrid::log {

/// What is said of a file that was set aside (docs/formats/segment.md, Damage).
struct Note {
  std::string file;    ///< its name
  std::string reason;  ///< what was wrong, and what became of its records
  std::uint64_t records = 0, damaged_bytes = 0, missing_records = 0;
};

/// Moves a file of the log into log/damaged/, where no reader looks, with a note beside it. The note is durable first.
/// @param keep leaves the file where it is too (a second name), for whoever replaces it next
/// @throws Error{io}; the file is then where it was
void set_aside(const std::filesystem::path& file, const Note& note, bool keep = false);

/// The notes of what was set aside in a log folder, by name. @throws Error{io}
std::vector<Note> read_notes(const std::filesystem::path& folder);

}  // namespace nkigrid::log
