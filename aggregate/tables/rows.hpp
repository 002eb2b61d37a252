#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aggregate/statistics/intervals.hpp"
#include "aggregate/statistics/variance.hpp"
#include "jobs/base/outcome.hpp"

/// The rows of every table: values, no layout. Holds no time, host, path or order of arrival, but for CostRow.
namespace nkigrid::aggregate {

struct Range {
  double low = 0, high = 0;
};

/// One rate: of a cell, or of one level of it.
struct Rate {
  std::uint32_t tasks = 0, replicates = 0;  ///< replicates: the most that any of its tasks is planned with
  std::uint64_t episodes = 0, passed = 0, outstanding = 0;  ///< episodes as planned
  std::optional<double> rate;        ///< none with episodes outstanding, unless partial: then over the scored ones
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
  std::string printed = {};  ///< counts files: the percentage that was printed elsewhere, as written; empty: none
  bool printed_fits = true;  ///< false when it is not this rate at its own precision
};

/// A paired comparison a - b over the tasks that both cells have.
struct PairRow {
  std::string a, b, contrast, scope, family;
  std::uint32_t tasks = 0;
  std::uint64_t outstanding = 0;
  std::optional<double> difference;  ///< none with episodes outstanding, unless partial
  std::optional<Interval> interval;
  std::string test;  ///< mcnemar-exact or sign-flip; checkpoint-t between methods; mcnemar-bounds from counts
  std::optional<double> p, p_holm;
  std::string verdict;      ///< a-better, b-better, not-separated; empty without a p; from counts: see counts.hpp
  std::string subset = {};  ///< from counts: the subset of both cells
  std::optional<Range> p_bounds = {};  ///< from counts: the least and the largest p over all pairings
  std::optional<Range> p_holm_bounds =
      {};                           ///< the same of Holm's p over the table: of all the least, and of all the largest
  std::optional<double> p_bh = {};  ///< with the adjustment bh only; the verdict goes by it then
};

/// A task that two compared cells do not solve alike.
struct FlipRow {
  std::string a, b, task;
  TaskCount in_a, in_b;
};

/// One value of a factor against the first one, the other factors held.
struct AblationRow {
  std::string factor, value, baseline;  ///< baseline: the value compared with; itself in the baseline's own row
  std::string context;                  ///< the other factors' values, or "mean of N" over several such
  std::string cell;                     ///< empty in a mean
  std::string subset;                   ///< of the cell
  std::uint32_t tasks = 0;              ///< of the comparison; of the cell in a baseline's row
  std::uint64_t outstanding = 0;
  std::optional<double> rate;
  std::optional<Interval> rate_interval;
  std::optional<double> difference, relative;  ///< to the baseline: points, and the same as a share of its rate
  std::optional<Interval> interval;            ///< of the difference
  std::optional<Interval> relative_interval = {};
  std::string relative_reason = {};  ///< why a comparison has no interval of the relative change; relative.hpp
};

/// Does one factor work better together with another? D = (p11 - p10) - (p01 - p00), task by task.
struct InteractionRow {
  std::string first, second;         ///< e.g. "model: base -> sft"
  std::string context;               ///< the third factor's value; the subset, from counts
  std::array<std::string, 4> cells;  ///< p00, p01, p10, p11; the first digit is the first factor's
  std::uint32_t tasks = 0;
  std::uint64_t outstanding = 0;
  std::optional<double> difference;
  std::optional<Interval> interval;
  std::string test = {};  ///< sign-flip; empty from counts
  std::optional<double> p = {}, p_holm = {}, p_bh = {};
  std::string verdict = {};  ///< super-additive, sub-additive, not-separated
};

/// Several checkpoints of one method (models.X.method), in one mode and prompt.
struct MethodRow {
  std::string method, mode, prompt;
  std::vector<std::string> cells;  ///< one a checkpoint
  std::uint32_t tasks = 0;         ///< that all of them have
  std::uint64_t outstanding = 0;
  std::optional<double> rate, between_checkpoints;  ///< standard deviation of the checkpoints' rates
  std::optional<Interval> interval;
};

/// What replicates of a cell tell.
struct ReplicateRow {
  std::string cell;
  std::uint32_t replicates = 0;  ///< most, over its tasks
  std::optional<Range> run_to_run;
  std::optional<VarianceSplit> variance;
  std::vector<PassAt> pass_at;
};

/// One cell under the three rules, and how verdicts move between them. Episodes, scored ones only.
struct RuleRow {
  std::string cell;
  std::uint64_t scored = 0, paper = 0, strict = 0, best = 0;
  std::uint64_t paper_not_strict = 0,
                strict_not_paper = 0;                    ///< what the paper's tolerance lets through, and the reverse
  std::uint64_t best_not_paper = 0, paper_not_best = 0;  ///< correct code that the agent broke again, and the reverse
};

/// What a cell spends. Times make it differ from run to run.
struct CostRow {
  std::string cell;
  std::uint64_t scored = 0, passed = 0;
  std::uint64_t tokens_in = 0, tokens_out = 0;
  std::optional<double> usd;  ///< of counted replies; none where nothing has a price
  double llm_s = 0;
  std::uint64_t uncounted_tokens = 0;
  double uncounted_usd = 0;
  std::optional<double> usd_per_pass, tokens_per_pass, tokens_per_s;  ///< output tokens a second of request time
  std::optional<Interval> usd_per_pass_interval, tokens_per_pass_interval;
  std::optional<double> relative;  ///< cost per pass against the chosen cell
  std::string relative_unit = {};  ///< of both costs: "usd", or "tokens" where either has no price
  std::optional<Interval> relative_interval;
};

/// A number that a text prints, held against the counts.
struct ClaimRow {
  std::string where, kind, a, b, scope, subset, printed;
  double value = 0;                       ///< as a fraction
  bool fits = true;                       ///< the printed number is the value at the printed precision
  std::optional<Interval> interval = {};  ///< of the value: newcombe, or mover-r for relative and share
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
  std::vector<std::uint64_t> open_by_turn = {};  ///< [t - 1]: episodes that took at least t turns
  std::map<std::pair<std::string, std::string>, std::uint64_t> first_to_last =
      {};  ///< (group of the first turn that failed or "none", of the last failed turn, "pass" where it passed)
};

}  // namespace nkigrid::aggregate
