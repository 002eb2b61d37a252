#pragma once

#include <filesystem>
#include <vector>

#include "runner/log/journal.hpp"

namespace nkigrid::log {

/// Turns a journal into an immutable HDF5 segment beside it (same stem, .h5; docs/formats/segment.md), written under a
/// temporary name, synced, renamed in. The journal is removed only when `covers` says that each of its attempts has ended
/// or been taken over.
/// @throws Error{io}; the journal is then untouched.
/// @returns the segment's path.
std::filesystem::path seal_journal(const std::filesystem::path& journal, bool remove_journal);

/// Seals every journal of the folder which no living writer holds (flock). @returns the segments written.
std::vector<std::filesystem::path> seal_all(const std::filesystem::path& folder);

}  // namespace nkigrid::log
