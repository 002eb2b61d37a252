#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runner/log/journal_reader.hpp"

namespace nkigrid::log {

/// Of the layout; docs/formats/segment.md, Versions. Older ones from the first are read.
constexpr std::uint64_t kSegmentVersion = 3, kFirstSegmentVersion = 2;

/// What a segment says of itself.
struct SegmentReport {
  std::uint64_t version = kSegmentVersion;
  LogHeader header;
  std::string journal;                        ///< stem of the journal it was made from
  std::uint64_t part = 1;                     ///< of its journal's segments, from 1; 0: written before version 3
  std::uint64_t seq_first = 0, seq_last = 0;  ///< records of that journal which it holds; 0: none
  std::uint64_t damaged_bytes = 0, missing_records = 0;  ///< what sealing had to skip
  std::vector<std::uint64_t> carried;                    ///< sequence numbers in between that the next part holds
  std::uint64_t records = 0;                             ///< visited

  // Of sealed files, as hex; else "".
  std::string seal;        ///< its own, which no other file has
  std::string previous;    ///< that of the part before; "": there was none
  std::string instead_of;  ///< that of a damaged file whose place it took
};

/// Gives back the records of a segment: begins, then each turn's reply and turn, then ends. Only the columns that
/// `selection` needs are read; texts are loaded for the wanted records alone.
/// @throws Error{corrupt} naming the file when it is no whole segment of a version we read
/// @param key which must have sealed what is read; none: it stays unproven
SegmentReport read_segment(const std::filesystem::path& file, const Selection& selection,
                           const std::function<void(std::uint64_t, Record&&)>& visit, const SealKey& key = {});

/// The attributes and what was carried. @throws Error{corrupt}
SegmentReport read_segment_header(const std::filesystem::path& file, const SealKey& key = {});

/// What could be saved of a damaged segment.
struct Salvage {
  SegmentReport report;          ///< as far as it can be read
  bool says_whose = false;       ///< run, journal and part are known
  std::uint64_t lost_rows = 0;   ///< passed over, because some column has no value for them
  std::uint64_t lost_texts = 0;  ///< left empty
  std::vector<std::string> lost_groups;
};

/// read_segment() that passes over what is damaged: rows, texts, groups. No value is made up. A turn whose texts are
/// damaged is kept only where the end of its attempt is in the file: nobody will continue from it.
/// @throws Error{corrupt} when it is no HDF5 file, or one of another version
Salvage salvage_segment(const std::filesystem::path& file, const std::function<void(std::uint64_t, Record&&)>& visit,
                        const SealKey& key = {});

/// True when the file is a segment of a version that this nkigrid does not read: not damaged, and not ours to touch.
bool is_other_version(const std::filesystem::path& file);

}  // namespace nkigrid::log
