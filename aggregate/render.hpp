#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aggregate/tables.hpp"

namespace nkigrid::aggregate {

enum class TableName { cells, levels, pairs };
enum class Format { text, markdown, latex, csv, json };

std::string_view to_string(TableName name) noexcept;
std::string_view to_string(Format format) noexcept;

/// The tables behind a word of the command line; "all" is every one. @throws Error{usage} naming those that exist.
std::vector<TableName> parse_table_name(std::string_view text);
/// What is printed when no table is named: cells and levels; as csv, cells.
std::vector<TableName> default_tables(Format format);
/// @throws Error{usage}
Format parse_format(std::string_view text);

/// Lays out the named tables. text, markdown, latex: one after the other, warnings last (in latex: under each table). csv: one table only, since a csv file has one head.
/// json: the whole document whatever is named (docs/formats/tables.md).
/// @throws Error{usage} when csv is asked for several.
std::string render(const Tables& tables, const std::vector<TableName>& names, Format format);

/// The words of --table and --format, for help texts.
std::string table_names_help();
std::string format_names_help();

std::string tables_as_json(const Tables& tables);

}  // namespace nkigrid::aggregate
