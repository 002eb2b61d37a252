#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "runner/log/journal_reader.hpp"

namespace nkigrid::log {

/// What a segment says of itself.
struct SegmentReport {
  LogHeader header;
  std::string journal;                                   ///< stem of the journal it was made from
  std::uint64_t seq_first = 0, seq_last = 0;             ///< records of that journal which it holds; 0: none
  std::uint64_t damaged_bytes = 0, missing_records = 0;  ///< what sealing had to skip
  std::uint64_t records = 0;                             ///< visited

  bool covers(std::uint64_t sequence) const noexcept { return sequence >= seq_first && sequence <= seq_last; }
};

/// Gives back the records of a segment one by one, in their order. Only the columns that `selection` needs
/// are read; texts are loaded for the wanted records alone.
/// @throws Error{corrupt} naming the file when it is no whole segment of a version we read
SegmentReport read_segment(const std::filesystem::path& file, const Selection& selection,
                           const std::function<void(std::uint64_t, Record&&)>& visit);

/// The attributes alone. @throws Error{corrupt}
SegmentReport read_segment_header(const std::filesystem::path& file);

}  // namespace nkigrid::log
