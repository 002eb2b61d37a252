#pragma once

#include <filesystem>
#include <string>

namespace nkigrid::cli {

/// The log of a run, for verbs that touch nothing else: they work on a run whose inputs are damaged.
/// @throws Error{config} where there is no run
std::filesystem::path log_folder_of(const std::string& run);

}  // namespace nkigrid::cli
