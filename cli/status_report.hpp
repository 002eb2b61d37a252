#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {

/// One array element as `status` shows it; filled by the verb from Slurm, empty for a local run.
struct ElementStatus {
  std::uint32_t shard = 0, job = 0;
  std::string state, reason;
};

/// What `status` knows of a run: the ledger's states counted.
struct StatusReport {
  struct Cell {
    std::string cell;
    std::uint64_t episodes = 0, scored = 0, passed = 0;
  };
  std::string run, grid_hash, stopped_by;
  std::uint64_t episodes = 0, scored = 0, outstanding = 0;
  std::map<std::string, std::uint64_t> reasons, outcomes;
  std::vector<Cell> cells;
  std::vector<ElementStatus> elements;
};

StatusReport make_status(const jobs::Run& run, const log::Ledger& ledger);
std::string to_json(const StatusReport& report);  ///< the contract's `status --json`
std::string to_text(const StatusReport& report);

/// Where a run notes why its last session stopped early ("" when it did not): RUN/log/stopped_by.
std::string read_stopped_by(const jobs::Run& run);
void write_stopped_by(const jobs::Run& run, const std::string& reason);

}  // namespace nkigrid::cli
