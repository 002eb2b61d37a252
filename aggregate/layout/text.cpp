#include <algorithm>

#include "aggregate/layout/sheet.hpp"

namespace nkigrid::aggregate {
namespace {

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string space(width - characters(text), ' ');
  return align == Align::left ? text + space : space + text;
}

std::string text_line(const std::vector<std::string>& words, const Sheet& sheet,
                      const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < words.size(); ++i)
    line += (i ? "  " : "") + padded(words[i], widths[i], sheet.columns[i].align);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

// Two spaces stand between columns.
std::size_t width_of(const ColumnGroup& group, const std::vector<std::size_t>& widths) {
  std::size_t width = group.count == 0 ? 0 : 2 * (group.count - 1);
  for (std::size_t i = group.first; i < group.first + group.count; ++i) width += widths[i];
  return width;
}

// The heads above the heads; none where no column has a group. Widens the last column under a head that is longer.
std::string group_line(const Sheet& sheet, std::vector<std::size_t>& widths) {
  std::string line;
  for (const auto& group : groups_of(sheet.columns)) {
    const auto wanted = characters(group.name), have = width_of(group, widths);
    if (wanted > have) widths[group.first + group.count - 1] += wanted - have;
    line += (line.empty() ? "" : "  ") + padded(group.name, std::max(wanted, have), Align::left);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line.empty() ? "" : line + '\n';
}

}  // namespace

std::string sheet_as_text(const Sheet& sheet) {
  auto widths = widths_of(sheet);
  std::string text = sheet.caption.empty() ? "" : sheet.caption + "\n";
  text += group_line(sheet, widths);
  text += text_line(headers_of(sheet), sheet, widths);
  std::size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (const auto width : widths) total += width;
  text += std::string(total, '-') + '\n';
  for (const auto& row : sheet.rows) text += text_line(row, sheet, widths);
  for (const auto& note : sheet.notes) text += note + '\n';
  return text;
}

}  // namespace nkigrid::aggregate
