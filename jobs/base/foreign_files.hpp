#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "jobs/base/files.hpp"

namespace nkigrid {

/// Opens a file of a folder that somebody else may have made (a benchmark, a run that was copied or mailed): a regular
/// file that lies under the folder and is reached through no link. A link would show the reader's own files, a pipe or
/// a device would hang or fill him. The folder itself may be a link: that one is named by the user.
/// @param name relative to `folder`
/// @throws Error{io} naming what is wrong
Fd open_foreign_file(const std::filesystem::path& folder, const std::filesystem::path& name);

/// Reads such a file. @throws Error{io} also for one of more than `most_bytes`
std::string read_foreign_file(const std::filesystem::path& folder, const std::filesystem::path& name,
                              std::size_t most_bytes = std::size_t{64} << 20);

/// Opens a file of ours in a folder that may be a stranger's, made (0644, less the umask) when it is not there: never
/// through a link, and a regular file.
/// @param flags O_RDWR or O_WRONLY, O_TRUNC
/// @throws Error{io}
Fd open_own_file(const std::filesystem::path& path, int flags);

/// Whether there is anything of that name, whatever it is.
bool has_foreign_file(const std::filesystem::path& folder, const std::filesystem::path& name) noexcept;

}  // namespace nkigrid
