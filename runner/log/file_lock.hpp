#pragma once

#include <filesystem>

#include "jobs/base/files.hpp"

namespace nkigrid::log {

/// What trying to lock a file came to. `unsupported`: the file system has no flock (some NFS and FUSE
/// mounts).
enum class LockResult { held, busy, unsupported };

/// flock(LOCK_EX | LOCK_NB) on an open file; released when the descriptor is closed. @throws Error{io} on
/// other failures
LockResult try_lock(const Fd& fd, const std::filesystem::path& path);

/// True when some journal of the folder is locked: its writer lives (or a sealer is at work). False where
/// flock is not supported.
bool has_living_writer(const std::filesystem::path& folder);

}  // namespace nkigrid::log
