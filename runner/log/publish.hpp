#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace nkigrid::log {

/// Makes a whole, synced file appear under a name that nothing has. @param bytes in pieces, one behind the other
/// @returns false when the name is taken
/// @throws Error{io}; no litter is left
bool publish(const std::filesystem::path& path, std::initializer_list<std::string_view> bytes);

}  // namespace nkigrid::log
