#include "slurm/dry_run.hpp"

#include <fmt/core.h>

#include "slurm/scripts.hpp"

namespace nkigrid::slurm {
namespace {

std::string elements_file(std::size_t chunk) { return fmt::format("elements-{}.sh", chunk); }

/// A server's job and the shell variable that has its id.
struct ServerScript {
  jobs::DryRun::Script script;
  std::string variable;
  bool begins_first = false;  ///< elements wait for it
};

std::vector<ServerScript> server_scripts(const jobs::Run& run, const std::string& program) {
  std::vector<ServerScript> scripts;
  for (const auto& server : jobs::servers_of(run.grid)) {
    for (std::uint32_t k = 0; k < server.spec->replicas; ++k) {
      scripts.push_back(
          {{fmt::format("server-{}-{}.sh", server.name, k), sbatch_script(server_request(run, server, k, 1, program))},
           fmt::format("server_{}", scripts.size()),
           k == 0});
    }
  }
  return scripts;
}

/// "array_0=$(sbatch ...)" for each chunk, each behind the one that it waits for and the servers, then the aggregation
/// behind all of them.
std::string submit_text(const jobs::Run& run, const std::vector<ServerScript>& servers, std::size_t chunks,
                        const jobs::Pace& pace) {
  std::string text = "#!/bin/sh\n# Submits what stands beside it, as `nkigrid submit` would.\nset -eu\n";
  text += fmt::format("cd {}\n", shell_word((std::filesystem::absolute(run.folder) / "scripts").native()));
  std::vector<std::string> begun;
  for (const auto& server : servers) {
    text += fmt::format("{}=$(sbatch --parsable {})\n", server.variable, server.script.name);
    if (server.begins_first) begun.push_back("$" + server.variable);
  }
  std::string all;
  for (std::size_t c = 0; c < chunks; ++c) {
    std::vector<std::string> ended;
    if (const auto earlier = waits_for(pace.throttle, c)) ended.push_back(fmt::format("$array_{}", *earlier));
    const auto after = dependency_text(ended, begun);
    text += fmt::format("array_{}=$(sbatch --parsable {}{})\n", c,
                        after.empty() ? "" : fmt::format("--dependency=\"{}\" ", after), elements_file(c));
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
  const auto servers = server_scripts(run, program);
  for (const auto& server : servers) scripts.push_back(server.script);
  scripts.push_back({"aggregation.sh", sbatch_script(aggregation_request(run, 1, program))});
  scripts.push_back({"submit.sh", submit_text(run, servers, chunks, pace)});
  return scripts;
}

}  // namespace nkigrid::slurm
