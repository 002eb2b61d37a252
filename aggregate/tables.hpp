#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/intervals.hpp"
#include "aggregate/scores.hpp"
#include "jobs/base/outcome.hpp"
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
  std::optional<double> rate;  ///< none with episodes outstanding, unless partial: then over the scored ones
  std::optional<Interval> interval;  ///< present with the rate
  std::optional<Range> bounds;       ///< [k/n, (k+u)/n]; only with episodes outstanding
  std::optional<Range> run_to_run;   ///< tasks held fixed; only with two replicates or more
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
  std::vector<LevelRate> categories = {};  ///< the same by category; empty from counts
  std::string printed =
      {};  ///< counts files: the percentage that was printed elsewhere, as written; empty: none
  bool printed_fits = true;  ///< false when it is not this rate at its own precision
};

/// A paired comparison a - b over the tasks that both cells have.
struct PairRow {
  std::string a, b, contrast, scope, family;
  std::uint32_t tasks = 0;
  std::uint64_t outstanding = 0;
  std::optional<double> difference;  ///< none with episodes outstanding, unless partial
  std::optional<Interval> interval;
  std::string test;  ///< mcnemar-exact or sign-flip
  std::optional<double> p, p_holm;
  std::string verdict;  ///< a-better, b-better, not-separated; empty without a p; from counts: see counts.hpp
  std::string subset = {};             ///< from counts: the subset of both cells
  std::optional<Range> p_bounds = {};  ///< from counts: the least and the largest p over all pairings
};

/// A number that a text prints, held against the counts.
struct ClaimRow {
  std::string where, kind, a, b, scope, subset, printed;
  double value = 0;  ///< as a fraction
  bool fits = true;  ///< the printed number is the value at the printed precision
};

/// How the counted episodes of one cell ended.
struct Breakdown {
  std::string cell;
  std::uint64_t scored = 0;
  std::array<std::uint64_t, kOutcomes> outcomes{};  ///< by Outcome
  std::map<std::string, std::uint64_t>
      groups;  ///< error group of the final kernel's check, of episodes that did not pass
  std::vector<std::uint64_t>
      passed_by_turn;  ///< [t - 1]: episodes that passed and took at most t turns; one length for all cells
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
  std::vector<Breakdown> breakdowns;  ///< parallel to cells; empty from counts
  std::vector<ClaimRow> claims;       ///< from counts files only
  std::vector<std::string> warnings;
  bool from_counts = false;
};

/// Turns a run's counted rows into rates, intervals and comparisons. Rates come from the plan's denominator.
/// @throws Error{usage} for an unknown subset, or when the subset leaves no cell.
Tables make_tables(const jobs::Run& run, const log::Ledger& ledger, const TableOptions& options = {});

/// Folds the run's log and writes cells, levels and pairs as .txt and .csv, and tables.json, into `folder`
/// (made when absent; each file replaced as a whole). Same plan, seed and verdicts: same bytes. @returns what
/// was written. @throws Error{io, corrupt}
Tables write_tables(const jobs::Run& run, const std::filesystem::path& folder);

}  // namespace nkigrid::aggregate
