#pragma once

#include <filesystem>
#include <string_view>

namespace nkigrid::log {

/// Makes a whole, synced file appear under a name that nothing has. @returns false when the name is taken
/// @throws Error{io}; no litter is left
bool publish(const std::filesystem::path& path, std::string_view bytes);

}  // namespace nkigrid::log
