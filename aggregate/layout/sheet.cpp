#include "aggregate/layout/sheet.hpp"

#include <algorithm>

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

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& words) {
  std::string line;
  for (std::size_t i = 0; i < words.size(); ++i) line += (i ? "," : "") + csv_field(words[i]);
  return line + '\n';
}

std::vector<std::string> headers(const Sheet& sheet) {
  std::vector<std::string> names;
  for (const auto& column : sheet.columns) names.push_back(column.header);
  return names;
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

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::size_t> widths_of(const Sheet& sheet) {
  std::vector<std::size_t> widths;
  for (const auto& column : sheet.columns) widths.push_back(characters(column.header));
  for (const auto& row : sheet.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], characters(row[i]));
  }
  return widths;
}

std::vector<ColumnGroup> groups_of(const std::vector<Column>& columns) {
  std::vector<ColumnGroup> groups;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (groups.empty() || groups.back().name != columns[i].group) groups.push_back({columns[i].group, i, 0});
    ++groups.back().count;
  }
  return groups;
}

std::string sheet_as_text(const Sheet& sheet) {
  auto widths = widths_of(sheet);
  std::string text = sheet.caption.empty() ? "" : sheet.caption + "\n";
  text += group_line(sheet, widths);
  text += text_line(headers(sheet), sheet, widths);
  std::size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (const auto width : widths) total += width;
  text += std::string(total, '-') + '\n';
  for (const auto& row : sheet.rows) text += text_line(row, sheet, widths);
  for (const auto& note : sheet.notes) text += note + '\n';
  return text;
}

std::string sheet_as_csv(const Sheet& sheet) {
  std::string text = csv_line(headers(sheet));
  for (const auto& row : sheet.rows) text += csv_line(row);
  return text;
}

}  // namespace nkigrid::aggregate
