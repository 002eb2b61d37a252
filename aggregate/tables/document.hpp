#pragma once

#include <string>
#include <vector>

#include "aggregate/layout/format.hpp"
#include "aggregate/tables/registry.hpp"

namespace nkigrid::aggregate {

/// The named tables. text, markdown, latex: one after the other, warnings last; in place of one without a row a
/// sentence says why, and what would fill it. csv: the first one, since a csv file has one head. json: the whole
/// document whatever is named, with the keys of further tables when they are (docs/formats/tables.md).
/// @param columns of the terminal that a text is for; 0: of any width
std::string print_tables(const Evidence& evidence, const TableList& named, Format format, std::size_t columns = 0);

/// Why a table has no row for programs, and what would give it some; empty for one that has.
std::string why_no_rows(const Evidence& evidence, const Table& table);

}  // namespace nkigrid::aggregate
