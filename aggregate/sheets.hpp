#pragma once

#include "aggregate/render.hpp"
#include "aggregate/sheet.hpp"

namespace nkigrid::aggregate {

/// The table for people: percentages with one decimal, intervals in brackets with their method.
Sheet display_sheet(const Tables& tables, TableName name);

/// The table for programs: one value a field, fractions with up to six decimals, empty for none.
Sheet data_sheet(const Tables& tables, TableName name);

/// A fraction with at most six decimals and no trailing zeros, "0.193333".
std::string fraction(double value);

/// Rounds to six decimals, so that a number prints the same everywhere; -0 becomes 0.
double rounded(double value) noexcept;

}  // namespace nkigrid::aggregate
