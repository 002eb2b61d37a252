#pragma once

#include <filesystem>
#include <string>

namespace nkigrid::jobs {

/// Reads a file that a grid names (a prompt, a table of prices): a grid may be a stranger's, so it is a regular file
/// that is no link, of at most 16 MiB. @throws Error{io} naming what is wrong
std::string read_named_file(const std::filesystem::path& file);

}  // namespace nkigrid::jobs
