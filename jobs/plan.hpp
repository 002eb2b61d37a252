#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/base/ids.hpp"
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

/// SHA-256 (hex) of all keys, sorted, as length-prefixed fields.
std::string grid_hash(const Plan& plan);

}  // namespace nkigrid::jobs
