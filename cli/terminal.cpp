#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace nkigrid::cli {

std::size_t terminal_columns(int fd) {
  winsize window{};
  return ::isatty(fd) == 1 && ::ioctl(fd, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent, std::size_t first) {
  if (columns == 0) return std::string(text);
  std::string out;
  std::size_t column = first;
  const auto break_line = [&] {
    out += '\n';
    out.append(indent, ' ');
    column = indent;
  };
  bool begins = true;  // a line, or the text: no space before the next word
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \n"), text.size());
    const auto word = text.substr(0, end);
    if (!begins && column + 1 + word.size() > columns) {
      break_line();
    } else if (!begins) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    begins = false;
    if (end == text.size()) break;
    if (text[end] == '\n') {
      break_line();
      begins = true;
    }
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace nkigrid::cli
