#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "jobs/base/files.hpp"
#include "runner/log/records.hpp"
#include "runner/log/seal_key.hpp"

namespace nkigrid::log {

/// Which records of a file are wanted, and whether with their texts.
struct Selection {
  bool with_texts = true;
  std::function<bool(const AttemptId&)> wanted;  ///< empty: all; spares the loading of texts, where that is possible
  bool begins = true, replies = true, turns = true, ends = true;
};

/// What reading one journal found.
struct JournalReport {
  LogHeader header;
  std::uint64_t records = 0;
  std::uint64_t first_sequence = 0, last_sequence = 0;
  std::uint64_t torn_tail_bytes = 0;  ///< an unfinished last frame: no damage, the writer died
  std::uint64_t damaged_bytes = 0;    ///< bytes skipped in mid-file because CRC, length or sequence do not fit
  std::uint64_t missing_records = 0;  ///< sequence numbers between the first and the last that no record has
  std::uint64_t unproven = 0;         ///< records, counted as damage, that the run's key has not sealed

  bool damaged() const noexcept { return damaged_bytes > 0 || missing_records > 0; }
};

/// Reads every whole record in order. Tolerates a torn tail and resynchronises after damage.
/// @param visit gets (sequence number, record) @param key which must have sealed each record; none: all are taken
/// @throws Error{corrupt} when the magic or the version is wrong, or neither head nor record is in it; Error{io}.
JournalReport read_journal(const std::filesystem::path& file, const std::function<void(std::uint64_t, Record&&)>& visit,
                           const SealKey& key = {});

/// read_journal() over an open file, which may have lost its name meanwhile. @param fd at offset 0
JournalReport read_journal(const Fd& fd, const std::filesystem::path& name, const Selection& selection,
                           const std::function<void(std::uint64_t, Record&&)>& visit, const SealKey& key = {});

/// What a journal says of itself: its head, or where that is damaged the run that its first begin names (the rest is
/// then empty). Leaves `fd` at offset 0.
/// @returns nothing where neither is whole and sealed by the key @throws Error{corrupt} as read_journal(), Error{io}
std::optional<LogHeader> read_journal_head(const Fd& fd, const std::filesystem::path& name, const SealKey& key = {});

/// True when `selection` wants this record.
bool selects(const Selection& selection, const Record& record);

}  // namespace nkigrid::log
