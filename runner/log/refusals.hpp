#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace nkigrid::log {

/// Nodes on which a session could not begin because the device failed there, which no episode's row tells:
/// RUN/log/refused/NODE holds the reason until a session on that node finds its device well ("" clears). A note that
/// cannot be written is not told: the failure itself is.
void note_refusal(const std::filesystem::path& log_folder, const std::string& node, const std::string& reason) noexcept;

/// Node -> reason. Empty when there is none.
std::map<std::string, std::string> read_refusals(const std::filesystem::path& log_folder);

}  // namespace nkigrid::log
