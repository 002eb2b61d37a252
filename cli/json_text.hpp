#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace nkigrid::cli {

/// A document of `--json` with its newline. Bytes that are no UTF-8 (what a server said, a file's name) are replaced.
/// @param indent spaces a level; negative: on one line
std::string json_text(const nlohmann::ordered_json& document, int indent = 1);

}  // namespace nkigrid::cli
