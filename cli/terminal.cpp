#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace nkigrid::cli {

std::size_t terminal_columns(int fd) {
  winsize window{};
  return ::isatty(fd) == 1 && ::ioctl(fd, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

}  // namespace nkigrid::cli
