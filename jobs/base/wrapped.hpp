#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nkigrid {

/// `text` broken at spaces into lines of at most `columns`, each but the first begun with `indent` spaces; a word that
/// is wider stands alone, for a path or a command that is cut can be copied no more. Line feeds of `text` stay.
/// @param first columns that are taken already in the first line @param columns 0: nothing is broken
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent = 0, std::size_t first = 0);

/// `text` as one line: each run of white space is a space. What a server says of an error is a line among ours.
std::string one_line(std::string_view text);

}  // namespace nkigrid
