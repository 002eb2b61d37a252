#include "aggregate/render.hpp"

#include <fmt/format.h>

#include "aggregate/sheets.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {
namespace {

// Of several tables only those that have something to say.
std::vector<Sheet> display_sheets(const Tables& tables, const std::vector<TableName>& names) {
  std::vector<Sheet> sheets;
  for (const auto name : names) {
    auto sheet = display_sheet(tables, name);
    if (names.size() == 1 || !sheet.rows.empty()) sheets.push_back(std::move(sheet));
  }
  return sheets;
}

template <class Layout>
std::string laid_out(const std::vector<Sheet>& sheets, Layout layout) {
  std::string text;
  for (const auto& sheet : sheets) text += (text.empty() ? "" : "\n") + layout(sheet);
  return text;
}

std::string as_text(const Tables& tables, const std::vector<TableName>& names) {
  auto text = laid_out(display_sheets(tables, names), sheet_as_text);
  for (const auto& warning : tables.warnings) text += fmt::format("\nwarning: {}", warning);
  return tables.warnings.empty() ? text : text + '\n';
}

std::string as_markdown(const Tables& tables, const std::vector<TableName>& names) {
  auto sheets = display_sheets(tables, names);
  for (const auto& warning : tables.warnings) {
    if (!sheets.empty()) sheets.back().notes.push_back("warning: " + warning);
  }
  return laid_out(sheets, sheet_as_markdown);
}

// Each table travels alone into a paper, so each carries the warnings.
std::string as_latex(const Tables& tables, const std::vector<TableName>& names) {
  auto sheets = display_sheets(tables, names);
  for (auto& sheet : sheets) {
    for (const auto& warning : tables.warnings) sheet.notes.push_back("Warning: " + warning + ".");
  }
  return laid_out(sheets, sheet_as_latex);
}

}  // namespace

std::string render(const Tables& tables, const std::vector<TableName>& names, Format format) {
  if (format == Format::json) return tables_as_json(tables, names);
  if (format == Format::text) return as_text(tables, names);
  if (format == Format::markdown) return as_markdown(tables, names);
  if (format == Format::latex) return as_latex(tables, names);
  if (names.size() != 1) {
    std::vector<std::string_view> words;
    for (const auto name : names) words.push_back(to_string(name));
    throw Error{ErrorCode::usage,
                fmt::format("csv holds one table at a time ({} were asked for); name one: {}", names.size(),
                            fmt::join(words, ", "))};
  }
  return sheet_as_csv(data_sheet(tables, names.front()));
}

}  // namespace nkigrid::aggregate
