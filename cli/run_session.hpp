#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/grid/grid.hpp"

namespace CLI {
class App;
}

namespace nkigrid::cli {

/// `--lanes N` of run and resume.
void add_lanes_option(CLI::App& app, std::uint32_t& lanes);

struct SessionOptions {
  std::optional<jobs::Grid> grid;  ///< freeze this into `run` first; none: `run` is frozen already
  std::filesystem::path run;
  std::vector<std::string> costs;  ///< earlier runs to learn costs from when a grid is frozen
  std::optional<ShardId> shard;
  std::uint32_t lanes = 0;
  std::uint32_t elements_at_once = 1;  ///< of this run, this one among them
  bool with_parked = false;
  bool quiet = false;
  bool json = false;            ///< rank 0 says on stdout what it came to
  bool trust_commands = false;  ///< see own_rights.hpp
  bool served = false;          ///< the models' servers are jobs of their own: none is started here
};

/// One process of a run on this machine: fork servers first, then MPI when a launcher started us, then the shard; rank
/// 0 writes RUN/tables when the whole run was asked for. Prints why it stopped as the last line of stderr.
/// @returns the exit code of the contract. Never returns on a rank whose error would leave the others waiting: it
/// aborts the job.
ExitCode run_session(const SessionOptions& options, ProgramArguments arguments);

}  // namespace nkigrid::cli
