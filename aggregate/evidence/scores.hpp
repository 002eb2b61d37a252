#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/evidence/rule.hpp"
#include "aggregate/statistics/intervals.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::aggregate {

/// One task of a cell. planned - scored episodes are outstanding.
struct TaskScore {
  std::uint32_t task = 0;     ///< index into Plan::tasks
  std::uint32_t stratum = 0;  ///< index into level_names()
  std::uint32_t planned = 0, scored = 0, passed = 0;
};

/// Passes of a row, weighed so that every task counts alike: an episode of a task planned with K replicates weighs 1/K.
struct WeighedPasses {
  double planned = 0, scored = 0, passed = 0;  ///< sums of weights; whole numbers of episodes where all K are equal
  bool equal = true;                           ///< all tasks are planned with as many replicates

  double rate() const noexcept { return passed / scored; }  ///< over the scored ones; the mean over tasks when all are
  double least() const noexcept { return passed / planned; }
  double most() const noexcept { return (passed + planned - scored) / planned; }
};

WeighedPasses weigh(const std::vector<TaskScore>& tasks) noexcept;

struct CellScores {
  std::uint32_t cell = 0;        ///< index into Plan::cells
  std::vector<TaskScore> tasks;  ///< by task id
  bool synthetic = false;        ///< some counted row's replies came from the synthetic model
};

/// The levels of all planned tasks, sorted.
std::vector<std::string> level_names(const jobs::Plan& plan);

/// Counts every planned episode of every cell; the denominator is the plan's.
/// @param subset keeps only its tasks; cells that have none of them are left out
/// @throws Error{usage} when the run's benchmark has no such subset.
std::vector<CellScores> collect_scores(const jobs::Run& run, const log::Ledger& ledger, Rule rule,
                                       const std::optional<std::string>& subset);

/// The tasks with at least one scored episode, as counts over their scored episodes.
std::vector<TaskCount> scored_counts(const std::vector<TaskScore>& tasks);

}  // namespace nkigrid::aggregate
