#include "aggregate/layout/sheet.hpp"

namespace nkigrid::aggregate {

std::string markdown_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '_' || c == '<' || c == '`' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

namespace {

std::string markdown_line(const std::vector<std::string>& words) {
  std::string line = "|";
  for (const auto& word : words) line += " " + markdown_escaped(word) + " |";
  return line + '\n';
}

// A pipe table has one head: the group goes before it.
std::vector<std::string> markdown_headers(const Sheet& sheet) {
  std::vector<std::string> names;
  for (const auto& column : sheet.columns)
    names.push_back(column.group.empty() ? column.header : column.group + " " + column.header);
  return names;
}

}  // namespace

std::string sheet_as_markdown(const Sheet& sheet) {
  std::string text = sheet.caption.empty() ? "" : "**" + markdown_escaped(sheet.caption) + "**\n\n";
  text += markdown_line(markdown_headers(sheet)) + "|";
  for (const auto& column : sheet.columns) text += column.align == Align::right ? "---:|" : "---|";
  text += '\n';
  for (const auto& row : sheet.rows) text += markdown_line(row);
  for (const auto& note : sheet.notes) text += "\n" + markdown_escaped(note) + "\n";
  return text;
}

}  // namespace nkigrid::aggregate
