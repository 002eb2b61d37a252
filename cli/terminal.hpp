#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nkigrid::cli {

/// Columns of the terminal behind a file descriptor; 0 where it is no terminal.
std::size_t terminal_columns(int fd);

/// `text` broken at spaces into lines of at most `columns`, each but the first begun with `indent` spaces; a word that
/// is wider stands alone, for a path or a command that is cut can be copied no more. Line feeds of `text` stay.
/// @param first columns that are taken already in the first line @param columns 0: nothing is broken
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent = 0, std::size_t first = 0);

}  // namespace nkigrid::cli
