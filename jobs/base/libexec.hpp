#pragma once

#include <filesystem>

namespace nkigrid {

/// The folder that holds our helper programs: beside this binary or above it in a build tree, under the prefix when
/// installed; NKIGRID_LIBEXEC names another.
/// @throws Error{config} when they are nowhere near it
std::filesystem::path libexec_folder();

}  // namespace nkigrid
