#include "slurm/dry_run.hpp"

#include <fmt/core.h>

#include "slurm/scripts.hpp"

namespace nkigrid::slurm {
namespace {

std::string elements_file(std::size_t chunk) { return fmt::format("elements-{}.sh", chunk); }

/// "array_0=$(sbatch ...)" for each chunk, each behind the one that it waits for, then the aggregation behind all of
/// them.
std::string submit_text(const jobs::Run& run, std::size_t chunks, const jobs::Pace& pace) {
  std::string text = "#!/bin/sh\n# Submits what stands beside it, as `nkigrid submit` would.\nset -eu\n";
  text += fmt::format("cd {}\n", shell_word((std::filesystem::absolute(run.folder) / "scripts").native()));
  std::string all;
  for (std::size_t c = 0; c < chunks; ++c) {
    const auto earlier = waits_for(pace.throttle, c);
    text += fmt::format("array_{}=$(sbatch --parsable {}{})\n", c,
                        earlier ? fmt::format("--dependency=\"afterany:$array_{}\" ", *earlier) : "", elements_file(c));
    all += fmt::format(":$array_{}", c);
  }
  return text + fmt::format("sbatch --parsable --dependency=\"afterany{}\" aggregation.sh\n", all);
}

}  // namespace

std::vector<jobs::DryRun::Script> dry_run(const jobs::Run& run, const std::vector<std::uint32_t>& shards,
                                          const Limits& limits, const std::string& program) {
  const auto pace = jobs::pace_of(run.grid, static_cast<std::uint32_t>(shards.size()));
  std::vector<jobs::DryRun::Script> scripts;
  for (const auto& request : element_requests(run, split(shards, limits), pace, 1, {program})) {
    scripts.push_back({elements_file(scripts.size()), sbatch_script(request)});
  }
  const auto chunks = scripts.size();
  scripts.push_back({"aggregation.sh", sbatch_script(aggregation_request(run, 1, program))});
  scripts.push_back({"submit.sh", submit_text(run, chunks, pace)});
  return scripts;
}

}  // namespace nkigrid::slurm
