#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jobs/base/files.hpp"

namespace nkigrid::log {

/// What trying to lock a file came to. `unsupported`: the file system has no flock (some NFS and FUSE
/// mounts).
enum class LockResult { held, busy, unsupported };

/// flock(LOCK_EX | LOCK_NB) on an open file; released when the descriptor is closed. @throws Error{io} on
/// other failures
LockResult try_lock(const Fd& fd, const std::filesystem::path& path);

/// True while somebody holds the lock of a file. False where there is no file, or flock is not supported.
bool is_locked(const std::filesystem::path& path);

/// Names of the folder's journals that are locked: their writers live (or a sealer is at work). None where flock is not
/// supported.
std::vector<std::string> living_writers(const std::filesystem::path& folder);
bool has_living_writer(const std::filesystem::path& folder);

}  // namespace nkigrid::log
