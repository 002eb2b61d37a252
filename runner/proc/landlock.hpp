#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "jobs/base/files.hpp"

namespace nkigrid::proc {

/// Version of the kernel's Landlock, 0: none. @source landlock_create_ruleset(2)
int landlock_version() noexcept;

/// From this version on, connecting and binding TCP sockets is refused: Linux 6.7.
inline constexpr int kLandlockOfTcp = 4;

/// From this version on, whoever is bound by rules cannot signal processes outside of them, by whatever call:
/// Linux 6.12.
inline constexpr int kLandlockOfSignals = 6;

/// A rule set under which files beneath `readable` can be read and listed, and nothing else of the file system can be
/// opened, made, renamed or removed. @pre landlock_version() > 0. @throws Error{io}; paths that do not exist are passed
/// over.
Fd make_landlock_rules(std::span<const std::filesystem::path> readable);

/// A rule set for a whole foreign program: it may read and execute beneath `readable`, do anything beneath `writable`;
/// a path of `writable` that is no folder (a device) may be read and written. As above otherwise.
Fd make_landlock_program_rules(std::span<const std::filesystem::path> readable,
                               std::span<const std::filesystem::path> writable);

/// Binds this process and all it will start. @pre no_new_privs is set. @returns false when the kernel refuses (errno
/// says why)
bool apply_landlock(int rules) noexcept;

}  // namespace nkigrid::proc
