#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"
#include "jobs/scheduler.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/server_notes.hpp"

namespace nkigrid::cli {

/// What `status` knows of a run: the ledger's states counted.
struct StatusReport {
  struct Cell {
    std::string cell;
    std::uint64_t episodes = 0, scored = 0, passed = 0;
  };
  std::string run, grid_hash, stopped_by, folder;
  double time = 0;  ///< of the look, Unix time [s]
  std::uint64_t episodes = 0, scored = 0, outstanding = 0;
  std::map<std::string, std::uint64_t> reasons, outcomes;
  std::vector<Cell> cells;
  std::vector<jobs::ElementState> elements;       ///< empty for a local run
  std::optional<jobs::ElementState> aggregation;  ///< the job that makes the tables
  std::map<std::string, std::string> endpoints;   ///< by model, what is known of one that fails
  std::map<std::string, std::string> narrowed;    ///< by model, of one that takes fewer requests than the grid allows
  std::vector<log::NamedServer> servers;          ///< that are kept for it, as their keepers say
  std::vector<jobs::ServerJob> server_jobs;       ///< those that are batch jobs
  std::uint64_t rows_outside = 0;                 ///< of the log, that are of no planned episode
  std::vector<std::string> log_warnings;          ///< damage, and files that do not count
  std::string cluster_warning;                    ///< why the controller could not be asked, or ""
  bool tables_stand = false;                      ///< RUN/tables holds what the log does
  bool works = false;                             ///< some process or batch job may still score episodes
  double per_hour = 0;                            ///< episodes scored an hour, over the last ten minutes
  /// At that rate; 0: nothing is outstanding; negative: nothing moves, or an endpoint is away and nobody can tell.
  double eta_seconds() const noexcept;
  std::map<std::string, log::NodeTally> bad_nodes;  ///< that eat episodes; a submission leaves them out if it can
};

/// "node trn2: 5 attempts failed, 0 scored", or why no session could begin there.
std::string node_text(const std::string& name, const log::NodeTally& node);

/// @param now Unix time [s]
StatusReport make_status(const jobs::Run& run, const log::Ledger& ledger, double now);

enum class JsonLayout { indented, line };
/// The contract's `status --json`.
std::string to_json(const StatusReport& report, JsonLayout layout = JsonLayout::indented);
std::string to_text(const StatusReport& report);
/// "demo: 12 of 48 episodes scored, 36 outstanding, 5 min to go; 2 elements RUNNING", without a line break.
std::string to_line(const StatusReport& report);

}  // namespace nkigrid::cli
