#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aggregate/layout/format.hpp"
#include "aggregate/tables/table.hpp"

namespace nkigrid::aggregate {

/// Some of all_tables(), each once.
using TableList = std::vector<const Table*>;

/// Every table, in the order of `--table all`. They live as long as the program.
const std::vector<Table>& all_tables();

/// Those that can be made of a run, or of counts. @param from runs or counts
TableList tables_from(From from);

/// The tables behind the words of --table, each once in the order asked for; "all" is every one, no word what is
/// printed when no table is named: cells and levels, of counts all; as csv, cells.
/// @throws Error{usage} for a word that names none, with those that exist; and where csv would have to hold several
TableList parse_tables(const std::vector<std::string>& words, Format format, From from);

/// True when a table shows what only turns tell: its evidence needs TurnFacts.
bool needs_turns(const TableList& tables) noexcept;

/// Refuses options that name nothing. @throws Error{usage}
void check_options(const Evidence& evidence);

/// The words of --table, for its help.
std::string table_names_help();

}  // namespace nkigrid::aggregate
