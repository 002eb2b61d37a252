#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nkigrid::device {

// Texts that a foreign program wrote and a model may be shown.

inline constexpr std::size_t kMostTexts = 50;  ///< warnings or hints that are taken of one reply

/// Valid UTF-8 of bounded length; the middle of a long text is left out.
std::string shown_text(std::string_view text);

/// The text with the words before it by which the agents' prompts know a warning.
std::string as_warning(std::string text);

}  // namespace nkigrid::device
