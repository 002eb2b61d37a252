#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace nkigrid {

/// The last bytes of a file of a folder that may be a stranger's (foreign_files.hpp), "" where there is none that may
/// be read: for words that are shown beside others.
std::string foreign_tail(const std::filesystem::path& folder, const std::filesystem::path& name,
                         std::size_t most_bytes) noexcept;

}  // namespace nkigrid
