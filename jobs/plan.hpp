#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jobs/base/ids.hpp"
#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"

namespace nkigrid::jobs {

/// One planned episode, small on purpose: plans of 10^6 are held in memory.
struct PlannedEpisode {
  std::uint32_t cell = 0;       ///< index into Plan::cells
  std::uint32_t task = 0;       ///< index into Plan::tasks
  std::uint32_t replicate = 1;  ///< from 1
  std::uint32_t shard = 0;
};

struct PlannedTask {
  std::string id, level, category;
};

/// What a run shall do. The denominator of every rate comes from here, never from the results found.
struct Plan {
  std::vector<CellSpec> cells;
  std::vector<PlannedTask> tasks;        ///< every task of any cell, sorted by id
  std::vector<PlannedEpisode> episodes;  ///< in the order cell, task, replicate
  std::uint32_t shards = 1;

  /// Key of (cell, task): 16 hex digits (docs/formats/run_directory.md).
  const std::string& key(std::uint32_t cell, std::uint32_t task) const { return keys[cell * tasks.size() + task]; }
  std::vector<std::string> keys;  ///< cells x tasks, row-major; "" where the cell has not the task

  EpisodeId id_of(const PlannedEpisode& episode) const {
    return {cells[episode.cell].id, tasks[episode.task].id, episode.replicate};
  }
};

/// What a run planned at some time before it grew: cell id -> its tasks (sorted) and replicates.
struct PlanExtent {
  struct Cell {
    std::string id;
    std::vector<std::string> tasks;
    std::uint32_t replicates = 1;
    bool operator==(const Cell&) const = default;
  };
  std::vector<Cell> cells;
  bool operator==(const PlanExtent&) const = default;
};
PlanExtent extent_of(const Plan& plan);

struct CostModel;

/// The episodes of a grid with their shards: balanced in count (within one episode) and in expected seconds, the same
/// for the same grid and costs whatever the order in its file, and decorrelated from the order of tasks and replicates.
/// @param grown_from earlier extents of the same run, oldest first: their episodes keep the shards they had
/// @param costs what shards are balanced by; null: the prior
Plan make_plan(const Grid& grid, const Benchmark& benchmark, std::span<const PlanExtent> grown_from = {},
               const CostModel* costs = nullptr);

/// SHA-256 (hex) of all keys, sorted, as length-prefixed fields.
std::string grid_hash(const Plan& plan);

/// Episodes of one shard, or all, as indices into plan.episodes, in the order to deal them: expected longest first,
/// ties by a keyed hash.
/// @param seconds expected seconds of (cell, task), {cells x tasks}: expected_seconds()
std::vector<std::uint32_t> dealing_order(const Plan& plan, std::span<const double> seconds,
                                         std::optional<ShardId> shard);
/// The same by the prior.
std::vector<std::uint32_t> dealing_order(const Plan& plan, const Grid& grid, std::optional<ShardId> shard);

}  // namespace nkigrid::jobs
