#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace nkigrid::model {

/// JSON text that every reader accepts, with how much of it had to be mended.
struct MendedJson {
  std::string text;
  std::uint32_t mended = 0;  ///< lone surrogate escapes and ill-formed UTF-8 sequences that became U+FFFD
};

/// Replaces lone surrogate escapes (`\ud835` without its other half) and ill-formed UTF-8 by U+FFFD: a model that emits
/// half a character must not cost its whole reply, and half a character sent back is answered with 400 for ever. Text
/// that is well formed comes back unchanged, byte for byte, but for a byte order mark in front.
MendedJson mend_json(std::string_view text);

/// JSON out of what models write for it: raw newlines and tabs in strings, commas before a closing bracket, Python's
/// True, False, None and single quotes. Text that is JSON keeps its meaning; what is no such slip stays as it is.
std::string relaxed_json(std::string_view text);

/// Parses JSON that a server or a model wrote. Discarded (Json::is_discarded()) where it is none, or nests deeper than
/// any reply does: whoever copies, prints or frees a value goes as deep as that, and a few megabytes of brackets took a
/// gigabyte and the stack.
nlohmann::json parse_json(std::string_view text);

}  // namespace nkigrid::model
