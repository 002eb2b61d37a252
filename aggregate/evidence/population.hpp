#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::aggregate {

/// A run as it was read.
struct ReadRun {
  jobs::Run run;
  log::Ledger ledger;
};

/// Reads each of some run folders whole. @throws as jobs::load_run() and log::read_ledger()
std::vector<ReadRun> read_runs(const std::vector<std::string>& folders);

/// What the runs are called where something must say which it is of: the grid's name, or the folder's where two grids
/// have one name.
std::vector<std::string> names_of(std::span<const ReadRun> sources);

/// Several runs as one: a plan with every episode once, and its counted rows. Tables are made of it as of any
/// run.
struct Population {
  jobs::Run run;                      ///< cells, tasks, contrasts and subsets of all; the first run's folder and seed
  log::Ledger ledger;                 ///< parallel to run.plan.episodes
  std::vector<std::string> warnings;  ///< what was put together, and what was kept apart
  std::vector<std::vector<std::uint32_t>> places;  ///< [source][its episode]: the episode's place in run.plan
  std::vector<std::uint32_t> counted_in;           ///< [episode]: the source whose row counts; the first that plans it
};

/// Puts runs together by the rule of populations: the same key and seed are the same episodes (the highest
/// scored attempt counts, then the run named first), the same key under another seed adds replicates, and a
/// cell with another key for a task that it shares is kept apart as `cell@run`, as names_of() has it.
/// @pre sources is not empty
Population merge_runs(std::span<const ReadRun> sources);

}  // namespace nkigrid::aggregate
