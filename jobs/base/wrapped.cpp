#include "jobs/base/wrapped.hpp"

#include <algorithm>

namespace nkigrid {

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
    const auto width = static_cast<std::size_t>(std::count_if(
        word.begin(), word.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
    if (!begins && column + 1 + width > columns) {
      break_line();
    } else if (!begins) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
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

std::string one_line(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  std::string line;
  for (const char c : text) {
    const bool is_space = kSpace.find(c) != std::string_view::npos;
    if (!is_space)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace nkigrid
