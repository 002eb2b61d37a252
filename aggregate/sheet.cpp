#include "aggregate/sheet.hpp"

#include <algorithm>

namespace nkigrid::aggregate {
namespace {

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

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

}  // namespace

std::string sheet_as_text(const Sheet& sheet) {
  std::vector<std::size_t> widths;
  for (const auto& column : sheet.columns) widths.push_back(characters(column.header));
  for (const auto& row : sheet.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], characters(row[i]));
  }
  std::string text = sheet.caption.empty() ? "" : sheet.caption + "\n";
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
