#include "cli/line_diff.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace nkigrid::cli {
namespace {

constexpr std::size_t kContext = 1;       ///< unchanged lines shown around a change
constexpr std::size_t kMostLines = 2000;  ///< beyond it the table of lengths gets too large; the text is shown whole

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

struct Line {
  char mark;
  std::size_t number;  ///< in the text after; 0 for a removed one
  std::string_view text;
};

/// The longest common subsequence, walked from the front.
std::vector<Line> diff(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<std::vector<std::uint32_t>> common(a.size() + 1, std::vector<std::uint32_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<Line> lines;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back({' ', ++j, a[i++]});
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      lines.push_back({'-', 0, a[i++]});
    } else {
      lines.push_back({'+', j + 1, b[j]});
      ++j;
    }
  }
  return lines;
}

bool is_near_change(const std::vector<Line>& lines, std::size_t at) {
  const std::size_t begin = at < kContext ? 0 : at - kContext;
  const std::size_t end = std::min(lines.size(), at + kContext + 1);
  return std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                     lines.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const Line& line) { return line.mark != ' '; });
}

}  // namespace

std::string changed_lines(const std::string& before, const std::string& after) {
  const auto a = lines_of(before), b = lines_of(after);
  if (a.size() > kMostLines || b.size() > kMostLines) return after;
  const std::vector<Line> lines = diff(a, b);
  std::string text;
  bool folded = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool shown = before.empty() || is_near_change(lines, i);
    if (!shown && !folded) text += "       ...\n";
    folded = !shown;
    if (!shown) continue;
    const char mark = before.empty() ? ' ' : lines[i].mark;
    text += lines[i].number == 0 ? fmt::format("     {} {}\n", mark, lines[i].text)
                                 : fmt::format("{:4} {} {}\n", lines[i].number, mark, lines[i].text);
  }
  return text;
}

}  // namespace nkigrid::cli
