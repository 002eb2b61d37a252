#pragma once

#include <string>

namespace nkigrid::cli {

/// The text up to its first line feed.
inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace nkigrid::cli
