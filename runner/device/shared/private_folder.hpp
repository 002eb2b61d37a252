#pragma once

#include <filesystem>

namespace nkigrid::device {

/// Makes a node-local folder that is trusted because this user alone can write it (TMPDIR is everybody's).
/// @throws Error{io} when there is something else of that name
void make_private_folder(const std::filesystem::path& folder);

}  // namespace nkigrid::device
