#pragma once

#include <string>
#include <string_view>

namespace nkigrid {

/// True for a word that begins as API keys of known providers do and goes on long enough.
bool looks_like_key(std::string_view word) noexcept;

/// The text with "[key]" for each such word: messages repeat what users write, and users paste keys where none belongs.
/// A key that is configured is hidden whatever it looks like, by runner/model/key_mask.hpp.
std::string without_key_like(std::string text);

}  // namespace nkigrid
