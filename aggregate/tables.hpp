#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/intervals.hpp"
#include "aggregate/scores.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::aggregate {

struct Range {
  double low = 0, high = 0;
};

/// One rate: of a cell, or of one level of it.
struct Rate {
  std::uint32_t tasks = 0, replicates = 0;  ///< replicates: the most that any of its tasks is planned with
  std::uint64_t episodes = 0, passed = 0, outstanding = 0;  ///< episodes as planned
  std::optional<double> rate;               ///< none with episodes outstanding, unless partial: then over the scored ones
  std::optional<Interval> interval;         ///< present with the rate
  std::optional<Range> bounds;              ///< [k/n, (k+u)/n]; only with episodes outstanding
  std::optional<Range> run_to_run;          ///< tasks held fixed; only with two replicates or more
};

struct LevelRate {
  std::string level;
  Rate rate;
};

struct CellRow {
  std::string cell, model, mode, prompt;
  std::string subset;  ///< empty when unnamed
  Rate total;
  std::vector<LevelRate> levels;
};

/// A paired comparison a - b over the tasks that both cells have.
struct PairRow {
  std::string a, b, contrast, scope, family;
  std::uint32_t tasks = 0;
  std::uint64_t outstanding = 0;
  std::optional<double> difference;  ///< none with episodes outstanding, unless partial
  std::optional<Interval> interval;
  std::string test;                  ///< mcnemar-exact or sign-flip
  std::optional<double> p, p_holm;
  std::string verdict;               ///< a-better, b-better, not-separated; empty without a p
};

struct TableOptions {
  Rule rule = Rule::paper;
  std::optional<std::string> subset;
  bool partial = false;
  double level = 0.95;
};

/// What the tables say, before any layout. Holds no time, host, path or order of arrival.
struct Tables {
  std::string run;  ///< the grid's name
  Rule rule = Rule::paper;
  double level = 0.95;
  bool partial = false;
  std::uint64_t outstanding = 0;
  std::vector<std::string> level_names;
  std::vector<CellRow> cells;  ///< in the grid's order
  std::vector<PairRow> pairs;
  std::vector<std::string> warnings;
};

/// Turns a run's counted rows into rates, intervals and comparisons. Rates come from the plan's denominator.
/// @throws Error{usage} for an unknown subset, or when the subset leaves no cell.
Tables make_tables(const jobs::Run& run, const log::Ledger& ledger, const TableOptions& options = {});

/// Folds the run's log and writes cells, levels and pairs as .txt and .csv, and tables.json, into `folder` (made when absent; each
/// file replaced as a whole). Same plan, seed and verdicts: same bytes. @returns what was written. @throws Error{io, corrupt}
Tables write_tables(const jobs::Run& run, const std::filesystem::path& folder);

}  // namespace nkigrid::aggregate
