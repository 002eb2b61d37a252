#include "aggregate/tables/table_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::aggregate {
namespace {

struct Entry {
  TableName name;
  std::string_view word;
  bool of_runs = true, of_counts = false;
};

constexpr std::array kTables{Entry{TableName::cells, "cells", true, true},
                             Entry{TableName::levels, "levels", true, true},
                             Entry{TableName::modes, "modes", true, true},
                             Entry{TableName::ablation, "ablation", true, true},
                             Entry{TableName::pairs, "pairs", true, true},
                             Entry{TableName::interactions, "interactions", true, true},
                             Entry{TableName::methods, "methods"},
                             Entry{TableName::method_pairs, "method-pairs"},
                             Entry{TableName::flips, "flips"},
                             Entry{TableName::categories, "categories"},
                             Entry{TableName::errors, "errors"},
                             Entry{TableName::transitions, "transitions"},
                             Entry{TableName::turns, "turns"},
                             Entry{TableName::replicates, "replicates"},
                             Entry{TableName::cost, "cost"},
                             Entry{TableName::rules, "rules"},
                             Entry{TableName::estimates, "estimates"},
                             Entry{TableName::claims, "claims", false, true}};

constexpr std::array kFormats{Format::text, Format::markdown, Format::latex, Format::csv, Format::json};
constexpr std::array<std::string_view, 5> kFormatWords{"text", "markdown", "latex", "csv", "json"};

std::vector<TableName> tables_of(Source source) {
  std::vector<TableName> names;
  for (const auto& entry : kTables) {
    if (source == Source::run ? entry.of_runs : entry.of_counts) names.push_back(entry.name);
  }
  return names;
}

template <class Words>
std::vector<std::string> words_of(const Words& words) {
  std::vector<std::string> names;
  for (const auto word : words) names.emplace_back(to_string(word));
  return names;
}

}  // namespace

std::string_view to_string(TableName name) noexcept {
  return std::find_if(kTables.begin(), kTables.end(), [&](const auto& entry) { return entry.name == name; })->word;
}

std::string_view to_string(Format format) noexcept { return kFormatWords[static_cast<std::size_t>(format)]; }

std::vector<TableName> parse_table_name(std::string_view text, Source source) {
  const auto known = tables_of(source);
  if (text == "all") return known;
  for (const auto name : known) {
    if (to_string(name) == text) return {name};
  }
  const auto words = words_of(known);
  throw Error{ErrorCode::usage, fmt::format("no table '{}'{}; this version has: {}, all", text,
                                            did_you_mean(text, words), fmt::join(words, ", "))};
}

std::vector<TableName> default_tables(Format format, Source source) {
  if (format == Format::csv) return {TableName::cells};
  if (source == Source::counts) return parse_table_name("all", source);
  return {TableName::cells, TableName::levels};
}

Format parse_format(std::string_view text) {
  for (const auto format : kFormats) {
    if (to_string(format) == text) return format;
  }
  const auto words = words_of(kFormats);
  throw Error{ErrorCode::usage, fmt::format("no format '{}'{}; this version has: {}", text, did_you_mean(text, words),
                                            fmt::join(words, ", "))};
}

bool needs_turns(const std::vector<TableName>& names) noexcept {
  return std::any_of(names.begin(), names.end(),
                     [](auto name) { return name == TableName::transitions || name == TableName::cost; });
}

std::string table_names_help() {
  return fmt::format("{}, claims (of counts), all; cells and levels when none is named",
                     fmt::join(words_of(tables_of(Source::run)), ", "));
}

std::string format_names_help() { return fmt::format("{}", fmt::join(words_of(kFormats), ", ")); }

}  // namespace nkigrid::aggregate
