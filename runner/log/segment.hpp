#pragma once

#include <filesystem>
#include <vector>

#include "jobs/base/clock.hpp"
#include "runner/log/journal.hpp"

namespace nkigrid::log {

/// Turns a journal into an immutable HDF5 segment beside it (same stem, .h5; docs/formats/segment.md),
/// written under a temporary name, synced, renamed in. With `remove_journal` the journal goes when it had no
/// damage and each of its attempts has an end or a later attempt in some file of the folder; else it stays,
/// and readers skip what the segment covers. Memory: the rows of the journal and twice the segment's size.
/// @throws Error{io} when the file cannot be written or a living writer holds the journal: the journal is
/// then untouched.
/// @returns the segment's path; a journal that somebody else has sealed and removed meanwhile is no error.
std::filesystem::path seal_journal(const std::filesystem::path& journal, bool remove_journal,
                                   Seconds wait = Seconds(600));

/// Seals every journal of the folder which no living writer holds (flock), and removes those it may. A
/// journal of another format is left alone. @returns the segments written; one that already held all its
/// journal's records is not written again.
/// @throws Error{io}
std::vector<std::filesystem::path> seal_all(const std::filesystem::path& folder);

}  // namespace nkigrid::log
