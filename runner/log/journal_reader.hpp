#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "jobs/base/files.hpp"
#include "runner/log/journal.hpp"

namespace nkigrid::log {

/// Which records of a file are wanted, and whether with their texts.
struct Selection {
  bool with_texts = true;
  std::function<bool(const AttemptId&)> wanted;  ///< empty: all; spares the loading of texts, where that is possible
  bool begins = true, replies = true, turns = true, ends = true;
};

/// read_journal() over an open file, which may have lost its name meanwhile. @param fd at offset 0
JournalReport read_journal(const Fd& fd, const std::filesystem::path& name, const Selection& selection,
                           const std::function<void(std::uint64_t, Record&&)>& visit);

/// What a journal says of itself: its head, or where that is damaged the run that its first begin names (the rest is
/// then empty). Leaves `fd` at offset 0.
/// @returns nothing where neither is whole @throws Error{corrupt} as read_journal(), Error{io}
std::optional<LogHeader> read_journal_head(const Fd& fd, const std::filesystem::path& name);

/// True when `selection` wants this record.
bool selects(const Selection& selection, const Record& record);

}  // namespace nkigrid::log
