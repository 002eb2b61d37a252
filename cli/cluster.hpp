#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "jobs/base/error.hpp"
#include "jobs/pace.hpp"
#include "jobs/run_directory.hpp"
#include "jobs/scheduler.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {

struct OutstandingOptions {
  bool with_parked = false, quiet = false, json = false;
  std::map<std::uint32_t, std::uint64_t> added;  ///< by shard, episodes that the run has just gained
};

/// True when RUN/tables holds what the log holds now.
bool has_tables_of(const jobs::Run& run, const log::Ledger& ledger);

/// Says that no shard holds an episode that may be submitted. @returns the exit code
ExitCode nothing_to_submit(const jobs::Run& run, const log::Ledger& ledger, const OutstandingOptions& options);

/// Submits the shards of `run` that hold outstanding episodes and no living job; says on stdout what it did. @returns
/// the exit code.
ExitCode submit_outstanding(const jobs::Run& run, jobs::Scheduler& scheduler, const OutstandingOptions& options);

/// Says how many elements work at once where that is not what slurm.throttle says.
void print_pace(const jobs::Run& run, const jobs::Pace& pace, std::FILE* to);

/// Absolute path of this program, for job scripts.
std::string program_path();

}  // namespace nkigrid::cli
