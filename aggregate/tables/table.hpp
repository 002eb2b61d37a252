#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "aggregate/evidence/evidence.hpp"
#include "aggregate/layout/sheet.hpp"

namespace nkigrid::aggregate {

/// What a table can be made of.
enum class From { runs, counts, both };

/// Where a table stands in a JSON document (docs/formats/tables.md).
enum class InDocument {
  leading,   ///< in every one, before the warnings
  always,    ///< in every one, after them
  if_named,  ///< under its own key, where it was asked for
  nowhere    ///< in the rows of another table
};

std::string nothing_counted(const Evidence& evidence);

/// All that there is to know about one table: each file of this folder that ends in a function NAME_table() defines
/// one. Rows are made through Evidence::once(), so that every form of a table shows the same ones.
struct Table {
  std::string name;                   ///< of --table and of its files; with _ for - its key in JSON
  Sheet (*display)(const Evidence&);  ///< for people: percentages with one decimal, intervals in brackets
  Sheet (*data)(const Evidence&);     ///< for programs: one value a field, fractions, empty for none, numbers marked
  /// Why it has no row, and what would give it some; read only then.
  std::string (*why_empty)(const Evidence&) = nothing_counted;
  From from = From::runs;
  bool by_default = false;   ///< printed where no table is named
  bool needs_turns = false;  ///< shows what only turns tell (Evidence::turns)
  bool repeats = true;       ///< same verdicts, same bytes; false: it holds times
  InDocument in_document = InDocument::if_named;
  nlohmann::ordered_json (*json)(const Evidence&) = nullptr;  ///< its value in a document; null: the rows of `data`
  /// Refuses options that name nothing, whichever table is asked for. @throws Error{usage}
  void (*check_options)(const Evidence&) = nullptr;
};

}  // namespace nkigrid::aggregate
