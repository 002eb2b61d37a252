#include "aggregate/tables/row_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace nkigrid::aggregate {
namespace {

constexpr std::size_t kNamed = 4;  // rows that a warning spells out

std::string names_of(const std::vector<std::string>& rows) {
  const auto named = std::min(rows.size(), kNamed);
  auto text = fmt::format("{}", fmt::join(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(named), "; "));
  if (rows.size() > named) text += fmt::format("; and {} more", rows.size() - named);
  return text;
}

void warn_of_cells(const Tables& tables, std::vector<RowWarning>& warnings) {
  std::vector<std::string> rows;
  for (const auto& row : tables.cells) {
    const auto& interval = row.total.interval;
    const auto& rerun = row.total.run_to_run;
    if (interval && rerun && interval->high - interval->low < rerun->high - rerun->low) rows.push_back(row.cell);
  }
  if (rows.empty()) return;
  warnings.push_back(
      {TableName::cells,
       fmt::format(
           "{}: the interval is narrower than run to run, though it has more to cover; resampling few tasks within "
           "a level understates it: go by the wider one",
           names_of(rows)),
       {TableName::modes, TableName::replicates}});
}

/// Measured at three replicates: intervals of 95 % over 12, 8 and 4 tasks a level cover 91 %, over levels of two 79 to
/// 84 % (docs/decisions/intervals.md).
constexpr std::uint32_t kFewTasksOfLevel = 5;

bool is_resampled(const std::optional<Interval>& interval) { return interval && interval->method.starts_with("bca"); }

bool has_resampled(const Tables& tables) {
  const auto any = [](const auto& rows, auto interval_of) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return is_resampled(interval_of(row)); });
  };
  return any(tables.cells, [](const auto& row) { return row.total.interval; }) ||
         any(tables.pairs, [](const auto& row) { return row.interval; }) ||
         any(tables.ablation, [](const auto& row) { return row.interval; }) ||
         any(tables.interactions, [](const auto& row) { return row.interval; });
}

void warn_of_small_levels(const Tables& tables, std::vector<RowWarning>& warnings) {
  if (!has_resampled(tables)) return;
  std::map<std::string, std::uint32_t> small;  // level -> fewest tasks
  for (const auto& row : tables.cells) {
    if (row.levels.size() < 2) continue;
    for (const auto& level : row.levels) {
      if (level.rate.tasks >= kFewTasksOfLevel) continue;
      const auto at = small.emplace(level.level, level.rate.tasks).first;
      at->second = std::min(at->second, level.rate.tasks);
    }
  }
  if (small.empty()) return;
  std::vector<std::string> words;
  for (const auto& [level, tasks] : small) words.push_back(fmt::format("{} has {}", level, tasks));
  warnings.push_back(
      {TableName::cells,
       fmt::format("a level with fewer than {} tasks ({}) understates the spread: bca intervals over all levels, of "
                   "differences too, cover less than "
                   "they say",
                   kFewTasksOfLevel, fmt::join(words, ", ")),
       {TableName::pairs, TableName::ablation, TableName::interactions, TableName::modes, TableName::replicates}});
}

std::string name_of(const PairRow& row) {
  return fmt::format("{} - {}{}", row.a, row.b, row.scope == "all" ? "" : fmt::format(" ({})", row.scope));
}

std::string name_of(const InteractionRow& row) {
  return fmt::format("{} by {} ({})", row.first, row.second, row.context);
}

// Of rows with an interval and a p value, both of the row alone.
template <class Row>
void warn_of_tests(const std::vector<Row>& rows, TableName table, double level, std::vector<RowWarning>& warnings) {
  std::vector<std::string> only_interval, only_test;
  for (const auto& row : rows) {
    if (!row.interval || !row.p) continue;
    const bool without_zero = row.interval->low > 0 || row.interval->high < 0, small_p = *row.p <= 1 - level;
    if (without_zero && !small_p) only_interval.push_back(name_of(row));
    if (!without_zero && small_p) only_test.push_back(name_of(row));
  }
  if (!only_interval.empty()) {
    warnings.push_back(
        {table,
         fmt::format("{}: the interval leaves out 0, but the test does not (p > {:g}); go by the test, which is exact",
                     names_of(only_interval), 1 - level)});
  }
  if (!only_test.empty()) {
    warnings.push_back(
        {table, fmt::format("{}: p is at most {:g}, but the interval holds 0; go by the test, which is exact",
                            names_of(only_test), 1 - level)});
  }
}

}  // namespace

std::vector<RowWarning> row_warnings(const Tables& tables) {
  std::vector<RowWarning> warnings;
  warn_of_cells(tables, warnings);
  warn_of_small_levels(tables, warnings);
  warn_of_tests(tables.pairs, TableName::pairs, tables.level, warnings);
  warn_of_tests(tables.interactions, TableName::interactions, tables.level, warnings);
  return warnings;
}

std::vector<std::string> warnings_of(const Tables& tables, const std::vector<TableName>& names) {
  auto texts = tables.warnings;
  for (const auto& warning : tables.row_warnings) {
    const auto shows = [&](TableName name) {
      return name == warning.table || std::find(warning.also.begin(), warning.also.end(), name) != warning.also.end();
    };
    if (std::any_of(names.begin(), names.end(), shows))
      texts.push_back(fmt::format("{}: {}", to_string(warning.table), warning.text));
  }
  return texts;
}

}  // namespace nkigrid::aggregate
