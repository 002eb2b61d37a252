#include "runner/runner.hpp"

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "jobs/base/files.hpp"
#include "runner/leader.hpp"
#include "runner/log/stopped_by.hpp"
#include "runner/rank.hpp"

namespace nkigrid::runner {

namespace {

std::string host_name() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return host;
}

}  // namespace

RunResult run_shard(const jobs::Run& run, mpi::Comm& comm, std::shared_ptr<device::Device> device, const Clock& clock,
                    const RunOptions& options, const std::atomic<int>& stop) {
  make_directories(run.log_folder());
  std::optional<Leader> leader;
  if (comm.rank() == 0) leader.emplace(Leader::make(run, comm, clock, options));
  std::optional<Rank> rank;
  try {
    const auto node = options.node.empty() ? host_name() : options.node;
    rank.emplace(RankContext{run, comm, clock, options, stop, node}, std::move(device), leader ? &*leader : nullptr);
    return rank->work();
  } catch (const std::exception& error) {
    const bool owned = leader || (rank && rank->begun());
    if (owned) log::note_failure(run.log_folder(), options.shard, error.what());
    throw;
  }
}

}  // namespace nkigrid::runner
