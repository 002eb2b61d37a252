#include <algorithm>

#include "aggregate/layout/sheet.hpp"
#include "jobs/base/wrapped.hpp"

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

constexpr std::size_t kIndent = 2;  // of the lines of a row after its first

// Which columns stand on which line of a row, so that none is wider than the terminal where that can be.
std::vector<std::vector<std::size_t>> lines_of(const Sheet& sheet, const std::vector<std::size_t>& widths,
                                               std::size_t columns) {
  std::vector<std::vector<std::size_t>> lines;
  std::size_t used = 0;
  for (const auto& unit : units_of(sheet.columns)) {
    std::size_t width = 0;
    for (const auto column : unit) width += widths[column] + 2;
    if (lines.empty() || used + width - 2 > columns) {
      used = lines.empty() ? 0 : kIndent;
      lines.emplace_back();
    }
    lines.back().insert(lines.back().end(), unit.begin(), unit.end());
    used += width;
  }
  return lines;
}

std::string folded_row(const std::vector<std::string>& words, const Sheet& sheet,
                       const std::vector<std::size_t>& widths, const std::vector<std::vector<std::size_t>>& lines) {
  std::string text;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    std::string line(l ? kIndent : 0, ' ');
    for (const auto i : lines[l])
      line += (i == lines[l].front() ? "" : "  ") + padded(words[i], widths[i], sheet.columns[i].align);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

// Whether each of a group's columns is told from all others by its own head.
bool is_told_apart(const Sheet& sheet, const ColumnGroup& group) {
  const auto end = group.first + group.count;
  for (std::size_t i = group.first; i < end; ++i) {
    const auto same = [&](const Column& other) { return other.header == sheet.columns[i].header; };
    if (std::count_if(sheet.columns.begin(), sheet.columns.end(), same) > 1) return false;
  }
  return true;
}

// Lines have no room for heads above. A head goes before the heads of its group, as in Markdown, where these stand in
// other groups too; else once, below.
Sheet without_groups(const Sheet& sheet) {
  auto named = sheet;
  std::vector<std::string> notes;
  for (const auto& group : groups_of(sheet.columns)) {
    if (group.name.empty()) continue;
    const bool apart = is_told_apart(sheet, group);
    std::string heads;
    for (std::size_t i = group.first; i < group.first + group.count; ++i) {
      heads += (heads.empty() ? "" : ", ") + sheet.columns[i].header;
      if (!apart) named.columns[i].header = group.name + " " + named.columns[i].header;
    }
    if (apart) notes.push_back(heads + ": " + group.name);
  }
  named.notes.insert(named.notes.begin(), notes.begin(), notes.end());
  return named;
}

std::string folded_text(const Sheet& sheet, std::size_t columns) {
  const auto named = without_groups(sheet);
  const auto widths = widths_of(named);
  const auto lines = lines_of(named, widths, columns);
  auto text = sheet.caption.empty() ? std::string() : wrapped(sheet.caption, columns) + '\n';
  text += folded_row(headers_of(named), named, widths, lines) + std::string(columns, '-') + '\n';
  for (const auto& row : named.rows) text += folded_row(row, named, widths, lines);
  for (const auto& note : named.notes) text += wrapped(note, columns) + '\n';
  return text;
}

}  // namespace

std::string sheet_as_text(const Sheet& sheet, std::size_t columns) {
  auto widths = widths_of(sheet);
  const auto groups = group_line(sheet, widths);  // widens
  std::size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (const auto width : widths) total += width;
  if (columns > 0 && total > columns) return folded_text(sheet, columns);
  std::string text = sheet.caption.empty() ? "" : wrapped(sheet.caption, columns) + "\n";
  text += groups + text_line(headers_of(sheet), sheet, widths);
  text += std::string(total, '-') + '\n';
  for (const auto& row : sheet.rows) text += text_line(row, sheet, widths);
  for (const auto& note : sheet.notes) text += wrapped(note, columns) + '\n';
  return text;
}

}  // namespace nkigrid::aggregate
