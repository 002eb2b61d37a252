#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nkigrid::aggregate {

enum class TableName {
  cells,
  levels,
  modes,     ///< models down, modes across: the paper's Table 1
  ablation,  ///< every value of a factor against its first
  pairs,
  interactions,
  methods,  ///< several checkpoints as one method
  method_pairs,
  flips,  ///< tasks that two compared cells do not solve alike
  categories,
  errors,
  transitions,  ///< first error against last
  turns,
  replicates,  ///< variances, pass@k
  cost,
  rules,
  estimates,  ///< estimated time of the kernels that pass
  claims
};

enum class Format { text, markdown, latex, csv, json };

/// Where the tables come from: a run, or a file of printed counts (which adds `claims`).
enum class Source { run, counts };

std::string_view to_string(TableName name) noexcept;
std::string_view to_string(Format format) noexcept;

/// The tables behind a word of the command line; "all" is every one. @throws Error{usage} naming those that
/// exist.
std::vector<TableName> parse_table_name(std::string_view text, Source source = Source::run);
/// What is printed when no table is named: cells and levels, of counts all; as csv, cells.
std::vector<TableName> default_tables(Format format, Source source = Source::run);
/// @throws Error{usage}
Format parse_format(std::string_view text);

/// True when a table shows what only turns tell: make_tables() needs TurnFacts for it.
bool needs_turns(const std::vector<TableName>& names) noexcept;

/// The words of --table and --format, for help texts.
std::string table_names_help();
std::string format_names_help();

}  // namespace nkigrid::aggregate
