#pragma once

#include <filesystem>
#include <vector>

#include "jobs/base/clock.hpp"
#include "runner/log/run_log.hpp"
#include "runner/log/seal_progress.hpp"
#include "runner/log/segment_builder.hpp"

namespace nkigrid::log {

/// Turns a journal into immutable HDF5 segments beside it (docs/formats/segment.md), each written under a temporary
/// name, synced, linked in. A journal that was sealed before goes on with the next part. With `remove_journal` the
/// journal goes when each of its attempts has an end or a later attempt in some file of the folder; a damaged
/// one is set aside instead (set_aside.hpp). While it stays, readers skip what its segments cover.
/// Memory: one part's columns and text, whatever the journal's size.
/// @param key of the run: proves the journal, seals the segments
/// @throws Error{io} when a file cannot be written or a living writer holds the journal: the journal is
/// then untouched.
/// @returns the first segment's path, or "" where the journal held no record and there is none; a journal that somebody
/// else has sealed and removed meanwhile is no error.
std::filesystem::path seal_journal(const std::filesystem::path& journal, bool remove_journal,
                                   Seconds wait = Seconds(600), SegmentLimits limits = {}, const SealKey& key = {},
                                   const SealProgress& progress = {});

/// Seals every journal of the run which no living writer holds (flock), and removes those it may. A journal that cannot
/// be read or does not count (left_out.hpp) is left alone. @returns the segments written
/// @throws Error{io}
std::vector<std::filesystem::path> seal_all(const RunLog& log, const SealProgress& progress = {});

}  // namespace nkigrid::log
