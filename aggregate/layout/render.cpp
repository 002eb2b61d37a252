#include "aggregate/layout/render.hpp"

#include <fmt/format.h>

#include "aggregate/layout/sheets.hpp"
#include "aggregate/tables/row_warnings.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {
namespace {

/// A named table; one without a row is a sentence.
struct Shown {
  Sheet sheet;
  std::string why_empty;
};

std::vector<Shown> shown_tables(const Tables& tables, const std::vector<TableName>& names) {
  std::vector<Shown> shown;
  for (const auto name : names) {
    auto sheet = display_sheet(tables, name);
    auto why = sheet.rows.empty() ? why_empty(tables, name) : "";
    shown.push_back({std::move(sheet), std::move(why)});
  }
  return shown;
}

// One after the other. @param empty how the sentence of an empty table is written: its name, then why
template <class Layout>
std::string laid_out(const std::vector<Shown>& shown, Layout layout, const char* empty) {
  std::string text;
  for (const auto& table : shown) {
    text += text.empty() ? "" : "\n";
    text += table.why_empty.empty() ? layout(table.sheet)
                                    : fmt::format(fmt::runtime(empty), table.sheet.name, table.why_empty);
  }
  return text;
}

std::string as_text(const Tables& tables, const std::vector<TableName>& names) {
  auto text = laid_out(shown_tables(tables, names), sheet_as_text, "{}: nothing to show: {}\n");
  const auto warnings = warnings_of(tables, names);
  for (const auto& warning : warnings) text += fmt::format("\nwarning: {}", warning);
  return warnings.empty() ? text : text + '\n';
}

std::string as_markdown(const Tables& tables, const std::vector<TableName>& names) {
  auto text = laid_out(shown_tables(tables, names), sheet_as_markdown, "**{}**: nothing to show: {}\n");
  for (const auto& warning : warnings_of(tables, names)) text += "\n" + markdown_escaped("warning: " + warning) + "\n";
  return text;
}

// Each table travels alone into a paper, so each carries the warnings.
std::string as_latex(const Tables& tables, const std::vector<TableName>& names) {
  auto shown = shown_tables(tables, names);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    for (const auto& warning : warnings_of(tables, {names[i]}))
      shown[i].sheet.notes.push_back("Warning: " + warning + ".");
  }
  return laid_out(shown, sheet_as_latex, "% {}: nothing to show: {}\n");
}

}  // namespace

std::string why_no_rows(const Tables& tables, TableName name) {
  return data_sheet(tables, name).rows.empty() ? why_empty(tables, name) : "";
}

std::string render(const Tables& tables, const std::vector<TableName>& names, Format format) {
  if (format == Format::json) return tables_as_json(tables, names);
  if (format == Format::text) return as_text(tables, names);
  if (format == Format::markdown) return as_markdown(tables, names);
  if (format == Format::latex) return as_latex(tables, names);
  if (names.size() != 1) {
    std::vector<std::string_view> words;
    for (const auto name : names) words.push_back(to_string(name));
    throw Error{ErrorCode::usage, fmt::format("csv holds one table at a time ({} were asked for); name one: {}",
                                              names.size(), fmt::join(words, ", "))};
  }
  return sheet_as_csv(data_sheet(tables, names.front()));
}

}  // namespace nkigrid::aggregate
