#include "aggregate/layout/sheet.hpp"

#include <algorithm>

namespace nkigrid::aggregate {

std::vector<std::string> headers_of(const Sheet& sheet) {
  std::vector<std::string> names;
  for (const auto& column : sheet.columns) names.push_back(column.header);
  return names;
}

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

std::vector<std::vector<std::size_t>> units_of(const std::vector<Column>& columns, std::size_t first) {
  std::vector<std::vector<std::size_t>> units;
  for (std::size_t i = first; i < columns.size(); ++i) {
    if (units.empty() || !columns[i].header.starts_with("interval")) units.emplace_back();
    units.back().push_back(i);
  }
  return units;
}

std::vector<ColumnGroup> groups_of(const std::vector<Column>& columns) {
  std::vector<ColumnGroup> groups;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (groups.empty() || groups.back().name != columns[i].group) groups.push_back({columns[i].group, i, 0});
    ++groups.back().count;
  }
  return groups;
}

}  // namespace nkigrid::aggregate
