#include "aggregate/render.hpp"

#include <fmt/format.h>

#include <array>

#include "aggregate/sheets.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr std::array kRunTables{TableName::cells,      TableName::levels, TableName::pairs,
                                TableName::categories, TableName::errors, TableName::turns};
constexpr std::array kCountTables{TableName::cells, TableName::levels, TableName::pairs, TableName::claims};
constexpr std::array kFormats{Format::text, Format::markdown, Format::latex, Format::csv, Format::json};

template <class Words>
std::string listed(const Words& words) {
  std::string text;
  for (const auto word : words) text += (text.empty() ? "" : ", ") + std::string(to_string(word));
  return text;
}

template <class Words>
std::string hint(std::string_view text, const Words& words) {
  std::vector<std::string> names;
  for (const auto word : words) names.emplace_back(to_string(word));
  return did_you_mean(text, names);
}

std::string as_text(const Tables& tables, const std::vector<TableName>& names) {
  std::string text;
  for (const auto name : names)
    text += (text.empty() ? "" : "\n") + sheet_as_text(display_sheet(tables, name));
  for (const auto& warning : tables.warnings) text += fmt::format("\nwarning: {}", warning);
  return tables.warnings.empty() ? text : text + '\n';
}

std::string as_markdown(const Tables& tables, const std::vector<TableName>& names) {
  std::string text;
  for (const auto name : names) {
    auto sheet = display_sheet(tables, name);
    if (name == names.back()) {
      for (const auto& warning : tables.warnings) sheet.notes.push_back("warning: " + warning);
    }
    text += (text.empty() ? "" : "\n") + sheet_as_markdown(sheet);
  }
  return text;
}

// Each table travels alone into a paper, so each carries the warnings.
std::string as_latex(const Tables& tables, const std::vector<TableName>& names) {
  std::string text;
  for (const auto name : names) {
    auto sheet = display_sheet(tables, name);
    for (const auto& warning : tables.warnings) sheet.notes.push_back("Warning: " + warning + ".");
    text += (text.empty() ? "" : "\n") + sheet_as_latex(sheet);
  }
  return text;
}

}  // namespace

std::string_view to_string(TableName name) noexcept {
  switch (name) {
    case TableName::cells:
      return "cells";
    case TableName::levels:
      return "levels";
    case TableName::pairs:
      return "pairs";
    case TableName::categories:
      return "categories";
    case TableName::errors:
      return "errors";
    case TableName::turns:
      return "turns";
    case TableName::claims:
      return "claims";
  }
  return "";
}

std::string_view to_string(Format format) noexcept {
  switch (format) {
    case Format::text:
      return "text";
    case Format::markdown:
      return "markdown";
    case Format::latex:
      return "latex";
    case Format::csv:
      return "csv";
    case Format::json:
      return "json";
  }
  return "";
}

std::vector<TableName> parse_table_name(std::string_view text, Source source) {
  std::vector<TableName> known(kRunTables.begin(), kRunTables.end());
  if (source == Source::counts) known.assign(kCountTables.begin(), kCountTables.end());
  if (text == "all") return known;
  for (const auto name : known) {
    if (to_string(name) == text) return {name};
  }
  throw Error{ErrorCode::usage, fmt::format("no table '{}'{}; this version has: {}, all", text,
                                            hint(text, known), listed(known))};
}

std::vector<TableName> default_tables(Format format, Source source) {
  if (format == Format::csv) return {TableName::cells};
  if (source == Source::counts) return parse_table_name("all", source);
  return {TableName::cells, TableName::levels};
}

std::string table_names_help() {
  return listed(kRunTables) + ", claims (of counts), all; cells and levels when none is named";
}

std::string format_names_help() { return listed(kFormats); }

Format parse_format(std::string_view text) {
  for (const auto format : kFormats) {
    if (to_string(format) == text) return format;
  }
  throw Error{ErrorCode::usage, fmt::format("no format '{}'{}; this version has: {}", text,
                                            hint(text, kFormats), listed(kFormats))};
}

std::string render(const Tables& tables, const std::vector<TableName>& names, Format format) {
  if (format == Format::json) return tables_as_json(tables, names);
  if (format == Format::text) return as_text(tables, names);
  if (format == Format::markdown) return as_markdown(tables, names);
  if (format == Format::latex) return as_latex(tables, names);
  if (names.size() != 1) {
    throw Error{ErrorCode::usage,
                fmt::format("csv holds one table at a time ({} were asked for); name one: {}", names.size(),
                            listed(names))};
  }
  return sheet_as_csv(data_sheet(tables, names.front()));
}

}  // namespace nkigrid::aggregate
