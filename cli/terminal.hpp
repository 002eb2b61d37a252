#pragma once

#include <cstddef>

namespace nkigrid::cli {

/// Columns of the terminal behind a file descriptor; 0 where it is no terminal.
std::size_t terminal_columns(int fd);

}  // namespace nkigrid::cli
