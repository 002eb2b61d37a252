#pragma once

#include "aggregate/layout/sheet.hpp"
#include "aggregate/tables/table_names.hpp"
#include "aggregate/tables/tables.hpp"

namespace nkigrid::aggregate {

/// The table for people: percentages with one decimal, intervals in brackets with their method.
Sheet display_sheet(const Tables& tables, TableName name);

/// The table for programs: one value a field, fractions with up to six decimals, empty for none; columns of
/// numbers are marked, so that JSON rows can be made of them.
Sheet data_sheet(const Tables& tables, TableName name);

/// Why a table has no row, and what would give it some.
std::string why_empty(const Tables& tables, TableName name);

// One pair of functions a table; errors, transitions and turns are counts, so that one form serves all.
Sheet display_modes(const Tables& tables);
Sheet data_modes(const Tables& tables);
Sheet display_ablation(const Tables& tables);
Sheet data_ablation(const Tables& tables);
Sheet display_interactions(const Tables& tables);
Sheet data_interactions(const Tables& tables);
Sheet display_pairs(const Tables& tables);
Sheet data_pairs(const Tables& tables);
Sheet display_bounds(const Tables& tables);  ///< pairs from counts: p as bounds over all pairings
Sheet display_methods(const Tables& tables);
Sheet data_methods(const Tables& tables);
Sheet display_method_pairs(const Tables& tables);
Sheet data_method_pairs(const Tables& tables);
Sheet display_flips(const Tables& tables);
Sheet data_flips(const Tables& tables);
Sheet error_sheet(const Tables& tables);
Sheet transition_sheet(const Tables& tables);
Sheet display_turns(const Tables& tables);
Sheet data_turns(const Tables& tables);
Sheet display_replicates(const Tables& tables);
Sheet data_replicates(const Tables& tables);
Sheet display_cost(const Tables& tables);
Sheet data_cost(const Tables& tables);
Sheet rule_sheet(const Tables& tables);
Sheet display_estimates(const Tables& tables);
Sheet data_estimates(const Tables& tables);
Sheet display_claims(const Tables& tables);
Sheet data_claims(const Tables& tables);

/// "grid: what, rule paper, 95 % intervals".
std::string caption_of(const Tables& tables, std::string_view what);

/// A fraction with at most six decimals and no trailing zeros, "0.193333"; empty for none.
std::string fraction(double value);
std::string fraction(const std::optional<double>& value);

/// Percent with one decimal, "19.3"; two of them, "[13.8, 26.4]"; and with the method, "-" for none.
std::string percent(double value);
std::string bracket(double low, double high);
std::string interval_word(const std::optional<Interval>& interval);

/// Passes of episodes, rate and interval, under one head; null: the cell has no such part.
void push_rate_columns(Sheet& sheet, const std::string& group);
void push_rate_words(std::vector<std::string>& words, const Rate* rate);

/// Method and both ends of an interval, one field each; or the two ends of a range.
void push_interval(std::vector<std::string>& words, const std::optional<Interval>& interval);
void push_range(std::vector<std::string>& words, const std::optional<Range>& range);

/// Columns by their names; a name after '#' is one of numbers.
std::vector<Column> data_columns(std::initializer_list<const char*> names);

/// A probability with six significant digits: small ones do not print as 0.
double rounded_p(double p) noexcept;
std::string p_word(const std::optional<double>& p);           ///< "0.0312", "<0.0001", "-"
std::string p_field(const std::optional<double>& p);          ///< six digits, empty for none
std::string points(double difference);                        ///< "+1.3"
std::string points(const std::optional<double>& difference);  ///< "-" for none

/// Rounds to six decimals, so that a number prints the same everywhere; -0 becomes 0.
double rounded(double value) noexcept;

}  // namespace nkigrid::aggregate
