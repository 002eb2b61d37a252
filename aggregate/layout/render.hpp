#pragma once

#include <string>
#include <vector>

#include "aggregate/tables/table_names.hpp"
#include "aggregate/tables/tables.hpp"

namespace nkigrid::aggregate {

/// Lays out the named tables. text, markdown, latex: one after the other, warnings last (in latex: under each
/// table); in place of one without a row a sentence says why, and what would fill it. csv: one table only, since a csv
/// file has one head. json: the whole document whatever is named, with the keys of further tables when they are
/// (docs/formats/tables.md).
/// @throws Error{usage} when csv is asked for several.
std::string render(const Tables& tables, const std::vector<TableName>& names, Format format);

/// Why a table has no row, and what would give it some; empty for one that has.
std::string why_no_rows(const Tables& tables, TableName name);

/// @param extra named tables beyond cells, levels and pairs add their keys
std::string tables_as_json(const Tables& tables, const std::vector<TableName>& extra = {});

}  // namespace nkigrid::aggregate
