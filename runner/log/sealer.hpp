#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/log/folder.hpp"
#include "runner/log/run_log.hpp"
#include "runner/log/seal_progress.hpp"
#include "runner/log/segment_builder.hpp"

namespace nkigrid::log {

/// The parts of a journal that are there, and what they hold.
struct Sealed {
  Coverage coverage;
  std::uint32_t parts = 0;
  std::uint64_t damaged_bytes = 0, missing_records = 0;  ///< what these tell of their journal
  std::string last_seal;                                 ///< of the last part, as hex; "": there is none
};

/// Reads the parts up to one that cannot be read or is gone. @param why why not, or ""
/// @throws Error{corrupt} for another version, and for a part that is none of this journal's (left_out.hpp)
Sealed readable_parts(const RunLog& log, const Stem& stem, std::string& why);

/// Sets parts aside from `first` on, whose journal is still here: they are made anew.
void set_parts_aside(const std::filesystem::path& folder, const Stem& stem, std::uint32_t first,
                     const std::string& why);

/// read_journal() of an open file from its first byte.
JournalReport read_from_start(const Fd& fd, const std::filesystem::path& journal, const SealKey& key,
                              const Selection& selection, const std::function<void(std::uint64_t, Record&&)>& visit);

/// Writes a journal's parts, one after the other.
class Sealer {
 public:
  /// @param last_words whether open replies become rows at the end: nobody will add to this journal
  Sealer(const std::filesystem::path& journal, const SealKey& key, Sealed sealed, JournalReport report,
         SegmentLimits limits, bool last_words);

  /// @returns the parts written; nothing when another sealer was faster: all begins again
  std::optional<std::vector<std::filesystem::path>> seal(const Fd& fd, const SealProgress& progress = {});

 private:
  void finish_part(bool is_last);

  const std::filesystem::path& journal_;
  const SealKey& key_;
  Sealed sealed_;
  JournalReport report_;
  SegmentLimits limits_;
  bool last_words_;
  std::optional<SegmentBuilder> builder_{std::in_place, limits_};
  std::vector<std::filesystem::path> written_;
  std::uint64_t first_ = 0;  ///< of the part at work
  std::uint64_t last_;
  bool pending_ = false, beaten_ = false;
};

}  // namespace nkigrid::log
