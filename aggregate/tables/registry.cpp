#include "aggregate/tables/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::aggregate {

#define TABLE(NAME) Table NAME##_table();
#include "aggregate/tables/tables.def"
#undef TABLE

const std::vector<Table>& all_tables() {
  static const std::vector<Table> tables{
#define TABLE(NAME) NAME##_table(),
#include "aggregate/tables/tables.def"
#undef TABLE
  };
  return tables;
}

namespace {

std::vector<std::string> names_of(const TableList& tables) {
  std::vector<std::string> names;
  for (const auto* table : tables) names.push_back(table->name);
  return names;
}

TableList parse_table(const std::string& word, const TableList& known) {
  if (word == "all") return known;
  for (const auto* table : known) {
    if (table->name == word) return {table};
  }
  const auto names = names_of(known);
  throw Error{ErrorCode::usage, fmt::format("no table '{}'{}; this version has: {}, all", word,
                                            did_you_mean(word, names), fmt::join(names, ", "))};
}

TableList default_tables(const TableList& known, Format format, From from) {
  if (from == From::counts && format != Format::csv) return known;
  TableList tables;
  std::copy_if(known.begin(), known.end(), std::back_inserter(tables), [](auto* table) { return table->by_default; });
  if (format == Format::csv) tables.resize(1);
  return tables;
}

}  // namespace

TableList tables_from(From from) {
  TableList tables;
  for (const auto& table : all_tables()) {
    if (table.from == from || table.from == From::both) tables.push_back(&table);
  }
  return tables;
}

TableList parse_tables(const std::vector<std::string>& words, Format format, From from) {
  const auto known = tables_from(from);
  if (words.empty()) return default_tables(known, format, from);
  TableList tables;
  for (const auto& word : words) {
    for (const auto* table : parse_table(word, known)) {
      if (std::find(tables.begin(), tables.end(), table) == tables.end()) tables.push_back(table);
    }
  }
  if (format == Format::csv && tables.size() != 1) {
    throw Error(ErrorCode::usage,
                fmt::format("csv holds one table at a time ({} were asked for); name one with --table", tables.size()));
  }
  return tables;
}

bool needs_turns(const TableList& tables) noexcept {
  return std::any_of(tables.begin(), tables.end(), [](const auto* table) { return table->needs_turns; });
}

void check_options(const Evidence& evidence) {
  for (const auto* table : tables_from(evidence.from_counts() ? From::counts : From::runs)) {
    if (table->check_options) table->check_options(evidence);
  }
}

std::string table_names_help() {
  std::string help;
  for (const auto& table : all_tables()) help += table.name + (table.from == From::counts ? " (of counts), " : ", ");
  return help + "all; cells and levels when none is named";
}

}  // namespace nkigrid::aggregate
