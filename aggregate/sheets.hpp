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

/// Percent with one decimal, "19.3"; and two of them, "[13.8, 26.4]".
std::string percent(double value);
std::string bracket(double low, double high);

/// A probability with six significant digits: small ones do not print as 0.
double rounded_p(double p) noexcept;

Sheet display_pairs(const Tables& tables);
Sheet data_pairs(const Tables& tables);
/// Episodes by outcome, then by error group of the final check; turn by turn, the passes so far. Counts, so
/// one form serves all.
Sheet error_sheet(const Tables& tables);
Sheet turn_sheet(const Tables& tables);
Sheet display_bounds(const Tables& tables);  ///< pairs from counts: p as bounds over all pairings
Sheet display_claims(const Tables& tables);
Sheet data_claims(const Tables& tables);
std::string p_word(const std::optional<double>& p);  ///< "0.0312", "<0.0001", "-"
std::string points(double difference);               ///< "+1.3"

/// Rounds to six decimals, so that a number prints the same everywhere; -0 becomes 0.
double rounded(double value) noexcept;

}  // namespace nkigrid::aggregate
