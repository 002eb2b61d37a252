#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/log/journal_reader.hpp"
#include "runner/log/segment_reader.hpp"

/// The files of a log folder: one stem is a journal, its segment, or both.
namespace nkigrid::log {

/// Stems of all journals and segments, sorted; hidden files and others are not ours. An absent folder has
/// none. @throws Error{io}
std::vector<std::string> stems_of(const std::filesystem::path& folder);

/// What reading one stem met; a part is absent where there was no such file.
struct StemReport {
  std::optional<SegmentReport> segment;
  std::optional<JournalReport> journal;
  std::uint64_t skipped = 0;  ///< journal records that the segment covers
};

/// Reads segment and journal of one stem, every record once, whatever a sealer does meanwhile: the journal is
/// opened before the segment is looked for, and keeps its bytes while it is open. @throws Error{io},
/// Error{corrupt}
StemReport read_stem(const std::filesystem::path& folder, const std::string& stem, const Selection& selection,
                     const std::function<void(Record&&)>& visit);

}  // namespace nkigrid::log
