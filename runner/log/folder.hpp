#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/log/journal_reader.hpp"
#include "runner/log/segment_reader.hpp"

/// The files of a log folder: one stem is a journal, its segments, or both.
namespace nkigrid::log {

/// A journal, its segments, or both, when the folder was looked at.
struct Stem {
  std::string name;
  std::uint32_t parts = 0;  ///< the highest part that was there; 0: the journal alone
};

/// The stems of all journals and segments, sorted by name; hidden files and what is no file are not ours. An absent
/// folder has none.
/// @throws Error{io}; Error{corrupt} for a symbolic link of such a name
std::vector<Stem> stems_of(const std::filesystem::path& folder);

/// One of them. A name that has no file yet is a journal alone. @throws Error{io}
Stem stem_of(const std::filesystem::path& folder, const std::string& name);

/// The file of a stem's part; parts count from 1.
std::filesystem::path part_path(const std::filesystem::path& folder, const std::string& stem, std::uint32_t part);

/// The files of a stem's parts, in their order: all that were there when the folder was looked at, present or not, and
/// what came since.
std::vector<std::filesystem::path> parts_of(const std::filesystem::path& folder, const Stem& stem);

/// Why a part that parts_of() names is not there. @returns "" when it is
std::string why_missing(const std::filesystem::path& part);

/// Which of a journal's records its segments hold.
class Coverage {
 public:
  /// Parts in their order.
  void add(const SegmentReport& part);
  /// In the place of a part that is gone.
  void lose() noexcept;
  bool covers(std::uint64_t sequence) const noexcept;
  /// True when the part to come has this record of the range of one before.
  bool carries(std::uint64_t sequence) const noexcept;
  /// carries(), or nobody knows: what a lost part carried is not told.
  bool may_carry(std::uint64_t sequence) const noexcept;
  /// True when `part` can come next: its records are after those of the parts before, or those that they carried.
  bool is_continued_by(const SegmentReport& part) const noexcept;
  /// True when `part` is unsealed or was sealed to follow the part before, or one whose place that took.
  bool is_sealed_after(const SegmentReport& part) const noexcept;
  std::uint64_t last() const noexcept { return last_; }

 private:
  std::uint64_t first_ = 0, last_ = 0;
  std::vector<std::uint64_t> carried_;  ///< of the last part: they come in one that is not there yet
  bool lost_ = false;                   ///< records of a part before are gone
  bool gap_ = false;                    ///< the part before is gone
  std::string seal_, instead_of_;       ///< of the part before
};

/// Holds a segment's record against the range that the segment says to hold. @param before of the parts before it
/// @throws Error{corrupt} where it cannot be of it: what the range says decides what is skipped in the journal
void prove_range(const std::filesystem::path& segment, const SegmentReport& head, const Coverage& before,
                 std::uint64_t sequence);

}  // namespace nkigrid::log
