#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregate/evidence/evidence.hpp"
#include "aggregate/layout/numbers.hpp"
#include "aggregate/layout/sheet.hpp"
#include "aggregate/statistics/intervals.hpp"

/// How what many tables hold reads: captions, intervals, p values.
namespace nkigrid::aggregate {

using Words = std::vector<std::string>;

/// "grid: what, rule paper, 95 % intervals"; by which rule printed counts were made, nobody told.
std::string caption_of(const Evidence& evidence, std::string_view what);
/// The same where no interval stands below: "grid: what, rule paper".
std::string caption_of_counts(const Evidence& evidence, std::string_view what);

/// "-" for an empty word.
std::string dash(const std::string& word);

/// "[13.8, 26.4] wilson", "-" for none; and its three fields.
std::string interval_word(const std::optional<Interval>& interval);
void push_interval(Words& words, const std::optional<Interval>& interval);

/// "[13.8, 26.4]", "-" for none; and its two fields.
std::string range_word(const std::optional<Range>& range);
void push_range(Words& words, const std::optional<Range>& range);

/// "0.0312", "<0.0001", "-"; six significant digits, empty for none.
std::string p_word(const std::optional<double>& p);
std::string p_field(const std::optional<double>& p);
/// The head of adjusted p values.
const char* adjusted_head(const Evidence& evidence);

/// Columns by their names; a name after '#' is one of numbers.
std::vector<Column> data_columns(std::initializer_list<const char*> names);

}  // namespace nkigrid::aggregate
