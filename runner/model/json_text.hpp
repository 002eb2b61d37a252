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

/// JSON out of what models write for it: raw newlines and tabs in strings, commas that are one too many, keys without
/// quotes, comments, Python's True, False, None, single and triple quotes and raw strings, escapes that neither
/// language knows (they stand for themselves). Text that is JSON keeps its meaning; what is no such slip stays as it
/// is.
std::string relaxed_json(std::string_view text);

/// Where the string literal of JSON or Python ends that begins at `begin`; the text's end when it does not.
std::size_t string_end(std::string_view text, std::size_t begin);

/// The end of the object that begins at `open`, strings of JSON and of Python skipped; npos when it does not end.
std::size_t object_end(std::string_view text, std::size_t open);

/// The one object in a text that holds nothing else but what surrounds one: spaces, a fence, a label, marks of a chat
/// template, brackets that are one too many, an empty object before it. "" when there is none or something else.
std::string_view sole_object(std::string_view text);

/// An object whose closing braces alone are missing, with them; "" when it ends within a string or a list, too.
std::string closed_object(std::string_view text);

/// An object that a model wrote for JSON: by slips within (relaxed_json), around (sole_object), with braces that are
/// missing at its end (closed_object) or double, or the only one among other words. Null where it is none by any of
/// these.
nlohmann::json mended_object(std::string_view text);

/// Parses JSON that a server or a model wrote. Discarded (Json::is_discarded()) where it is none, or nests deeper or
/// holds more values (a million) than any reply does: whoever copies, prints or frees a value goes as deep as that, a
/// few megabytes of brackets took a gigabyte and the stack, and sixteen bytes go to each value, however short it is.
nlohmann::json parse_json(std::string_view text);

}  // namespace nkigrid::model
