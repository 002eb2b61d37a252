#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aggregate/tables.hpp"

namespace nkigrid::aggregate {

enum class TableName { cells, levels, pairs, categories, errors, turns, claims };
enum class Format { text, markdown, latex, csv, json };

std::string_view to_string(TableName name) noexcept;
std::string_view to_string(Format format) noexcept;

/// Where the tables come from: a run, or a file of printed counts (which adds `claims`).
enum class Source { run, counts };

/// The tables behind a word of the command line; "all" is every one. @throws Error{usage} naming those that
/// exist.
std::vector<TableName> parse_table_name(std::string_view text, Source source = Source::run);
/// What is printed when no table is named: cells and levels, of counts all; as csv, cells.
std::vector<TableName> default_tables(Format format, Source source = Source::run);
/// @throws Error{usage}
Format parse_format(std::string_view text);

/// Lays out the named tables. text, markdown, latex: one after the other, warnings last (in latex: under each
/// table). csv: one table only, since a csv file has one head. json: the whole document whatever is named,
/// with the keys of categories, errors and turns when they are (docs/formats/tables.md).
/// @throws Error{usage} when csv is asked for several.
std::string render(const Tables& tables, const std::vector<TableName>& names, Format format);

/// The words of --table and --format, for help texts.
std::string table_names_help();
std::string format_names_help();

/// @param extra named tables beyond cells, levels and pairs add their keys: categories, errors, turns
std::string tables_as_json(const Tables& tables, const std::vector<TableName>& extra = {});

}  // namespace nkigrid::aggregate
