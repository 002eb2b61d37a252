#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jobs/forecast/costs.hpp"
#include "runner/log/ledger.hpp"

/// Costs of episodes, learnt from what earlier ones took.
namespace nkigrid::log {

/// One scored episode: log(what it took / what was expected before).
struct CostObservation {
  std::uint32_t cell = 0, task = 0;  ///< indices into CostHistory
  double seconds = 0, tokens_in = 0, tokens_out = 0;
};

/// Observations of one or several runs.
struct CostHistory {
  struct Cell {
    std::string id, model, mode;
  };
  struct Task {
    std::string id, level;
  };
  std::vector<Cell> cells;  ///< a cell of two runs may stand there twice; its name counts
  std::vector<Task> tasks;
  std::vector<CostObservation> observations;
};

/// Adds the counted episodes of a run. An attempt that inherited turns from an earlier one is scaled up to all its
/// turns; one that only checked anew says nothing.
/// @param known costs learnt already, from which the observations deviate
void add_history(CostHistory& history, const jobs::Run& run, const Ledger& ledger, const jobs::CostModel& known);

/// The effects that best explain a history, on top of `known`. Per quantity, y = log(value / prior) is fitted by
/// crossed random effects (common, model, mode, cell, level, task), each shrunk towards 0 by the ratio of its variance
/// to the noise's, so that what was seen once moves little and what was seen often moves freely.
/// @source effects: Henderson's mixed model equations (Biometrics 31, 1975) by Gauss-Seidel; variances: Schall
/// (Biometrika 78, 1991) with diagonal traces; heavy tails: Huber's weights at 1.345 MAD scales (Huber 1964).
/// Deterministic.
jobs::CostModel fit_costs(const CostHistory& history, const jobs::CostModel& known);

/// Costs learnt from earlier runs, all together. @throws as load_run() and read_ledger()
jobs::CostModel learn_costs(std::span<const std::string> runs);

/// What a run knows now: the costs it was frozen with, corrected by its own counted episodes.
jobs::CostModel relearn_costs(const jobs::Run& run, const Ledger& ledger);

}  // namespace nkigrid::log
