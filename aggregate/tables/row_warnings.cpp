#include "aggregate/tables/row_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "aggregate/tables/ablation.hpp"
#include "aggregate/tables/pairs.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr std::size_t kNamed = 4;  // rows that a warning spells out

/// Measured at three replicates: intervals of 95 % over 12, 8 and 4 tasks a level cover 91 %, over levels of two 79 to
/// 84 % (docs/decisions/intervals.md).
constexpr std::uint32_t kFewTasksOfLevel = 5;

std::string names_of_rows(const std::vector<std::string>& rows) {
  const auto named = std::min(rows.size(), kNamed);
  auto text = fmt::format("{}", fmt::join(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(named), "; "));
  if (rows.size() > named) text += fmt::format("; and {} more", rows.size() - named);
  return text;
}

bool is_resampled(const std::optional<Interval>& interval) { return interval && interval->method.starts_with("bca"); }

template <class Rows>
bool any_resampled(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return is_resampled(row.interval); });
}

bool any_resampled(const Evidence& evidence) {
  const auto& cells = evidence.once(make_cells);
  return std::any_of(cells.begin(), cells.end(), [](const auto& row) { return is_resampled(row.total.interval); }) ||
         any_resampled(evidence.once(make_pairs)) || any_resampled(evidence.once(make_differences)) ||
         any_resampled(evidence.once(make_interactions));
}

std::string name_of_row(const PairRow& row) {
  return fmt::format("{} - {}{}", row.a, row.b, row.scope == "all" ? "" : fmt::format(" ({})", row.scope));
}

std::string name_of_row(const InteractionRow& row) {
  return fmt::format("{} by {} ({})", row.first, row.second, row.context);
}

template <class Row>
std::vector<std::string> warn_of(const std::vector<Row>& rows, const char* table, double alpha) {
  std::vector<std::string> only_interval, only_test, warnings;
  for (const auto& row : rows) {
    if (!row.interval || !row.p) continue;
    const bool without_zero = row.interval->low > 0 || row.interval->high < 0, small_p = *row.p <= alpha;
    if (without_zero && !small_p) only_interval.push_back(name_of_row(row));
    if (!without_zero && small_p) only_test.push_back(name_of_row(row));
  }
  if (!only_interval.empty()) {
    warnings.push_back(fmt::format(
        "{}: {}: the interval leaves out 0, but the test does not (p > {:g}); go by the test, which is exact", table,
        names_of_rows(only_interval), alpha));
  }
  if (!only_test.empty()) {
    warnings.push_back(
        fmt::format("{}: {}: p is at most {:g}, but the interval holds 0; go by the test, which is exact", table,
                    names_of_rows(only_test), alpha));
  }
  return warnings;
}

}  // namespace

std::vector<std::string> warn_of_narrow_intervals(const std::vector<CellRow>& rows) {
  std::vector<std::string> narrow;
  for (const auto& row : rows) {
    const auto& interval = row.total.interval;
    const auto& rerun = row.total.run_to_run;
    if (interval && rerun && interval->high - interval->low < rerun->high - rerun->low) narrow.push_back(row.cell);
  }
  if (narrow.empty()) return {};
  return {fmt::format(
      "cells: {}: the interval is narrower than run to run, though it has more to cover; resampling few tasks within "
      "a level understates it: go by the wider one",
      names_of_rows(narrow))};
}

std::vector<std::string> warn_of_small_levels(const std::vector<CellRow>& rows, bool is_resampled) {
  std::map<std::string, std::uint32_t> small;  // level -> fewest tasks
  for (const auto& row : rows) {
    if (row.levels.size() < 2) continue;
    for (const auto& level : row.levels) {
      if (level.rate.tasks >= kFewTasksOfLevel) continue;
      const auto at = small.emplace(level.name, level.rate.tasks).first;
      at->second = std::min(at->second, level.rate.tasks);
    }
  }
  if (small.empty() || !is_resampled) return {};
  std::vector<std::string> words;
  for (const auto& [level, tasks] : small) words.push_back(fmt::format("{} has {}", level, tasks));
  return {
      fmt::format("cells: a level with fewer than {} tasks ({}) understates the spread: bca intervals over all "
                  "levels, of differences too, cover less than they say",
                  kFewTasksOfLevel, fmt::join(words, ", "))};
}

std::vector<std::string> warn_of_tests(const std::vector<PairRow>& rows, double alpha) {
  return warn_of(rows, "pairs", alpha);
}

std::vector<std::string> warn_of_tests(const std::vector<InteractionRow>& rows, double alpha) {
  return warn_of(rows, "interactions", alpha);
}

std::vector<std::string> row_warnings(const Evidence& evidence, RowCheck check) {
  const double alpha = 1 - evidence.options.confidence;
  switch (check) {
    case RowCheck::narrower_than_rerun:
      return warn_of_narrow_intervals(evidence.once(make_cells));
    case RowCheck::small_levels:
      return warn_of_small_levels(evidence.once(make_cells), any_resampled(evidence));
    case RowCheck::pair_tests:
      return warn_of_tests(evidence.once(make_pairs), alpha);
    case RowCheck::interaction_tests:
      return warn_of_tests(evidence.once(make_interactions), alpha);
  }
  return {};
}

}  // namespace nkigrid::aggregate
