#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "jobs/base/files.hpp"

namespace nkigrid::device {

/// Opens a regular file that stands in `folder` itself, whatever a foreign program left there: a path, a link, a pipe
/// are refused.
/// @param name as the program gave it: a bare name, or `folder`/name
/// @throws Error{external} in words for the log
Fd open_plain(const std::filesystem::path& folder, const std::filesystem::path& name);

/// The whole of it. @throws Error{external}, also when it is empty or larger than `most_bytes`
std::string read_plain(const std::filesystem::path& folder, const std::filesystem::path& name, std::size_t most_bytes);

/// Exactly `into.size()` bytes of it. @throws Error{external}, also when it has another size
void read_exactly(const std::filesystem::path& folder, const std::filesystem::path& name, std::span<std::byte> into);

/// A new file that only its owner may touch. @throws Error{io}
void write_private(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The text without any mention of the folder: no path of ours reaches a model.
std::string without_folder(std::string text, const std::filesystem::path& folder);

}  // namespace nkigrid::device
