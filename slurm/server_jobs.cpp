#include "slurm/server_jobs.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "runner/log/server_notes.hpp"
#include "slurm/scripts.hpp"
#include "slurm/submissions.hpp"

namespace nkigrid::slurm {
namespace {

/// False for a job whose keeper has said that it ends its server, or has given it up.
bool keeps_on(const jobs::Run& run, const ServerComment& said, std::uint32_t job) {
  const auto note = log::read_server_note(run.log_folder(), {log::kJobsOwn, said.name, said.replica});
  using State = log::ServerNote::State;
  return !note || note->job != std::to_string(job) || (note->state != State::ended && note->state != State::failed);
}

/// Jobs of one replica.
struct Found {
  std::uint32_t living = 0;         ///< 0: none
  std::vector<std::string> ending;  ///< still there, and soon gone
};

Found find_jobs(const jobs::Run& run, const std::string& name, std::uint32_t replica,
                const std::vector<JobState>& known) {
  Found found;
  for (const auto& job : known) {
    const auto said = read_server_comment(run, job.comment);
    if (!said || !said->is_of(name, replica) || !job.active()) continue;
    if (job.works() && keeps_on(run, *said, job.job))
      found.living = found.living == 0 ? job.job : std::min(found.living, job.job);
    else
      found.ending.push_back(std::to_string(job.job));
  }
  return found;
}

}  // namespace

ServerJobs plan_servers(const jobs::Run& run, const std::vector<std::string>& names, const std::vector<JobState>& known,
                        std::uint32_t generation, const std::string& program) {
  ServerJobs plan;
  for (const auto& server : jobs::servers_of(run.grid)) {
    if (std::find(names.begin(), names.end(), server.name) == names.end()) continue;
    for (std::uint32_t k = 0; k < server.spec->replicas; ++k) {
      const auto found = find_jobs(run, server.name, k, known);
      if (found.living != 0) {
        // One replica is enough to begin with: the others may wait for nodes longer than the grid takes.
        if (k == 0) plan.begin_first.push_back(std::to_string(found.living));
        continue;
      }
      auto request = server_request(run, server, k, generation, program);
      request.dependency = dependency_text(found.ending);
      check_request(request);
      plan.missing.push_back(std::move(request));
      plan.wanted.push_back({0, server.name, k});
      log::forget_server(run.log_folder(), {log::kJobsOwn, server.name, k});
    }
  }
  return plan;
}

std::vector<jobs::ServerJob> server_states(const jobs::Run& run, const std::vector<JobState>& known) {
  std::map<std::pair<std::string, std::uint32_t>, jobs::ServerJob> newest;
  for (const auto& job : known) {
    const auto said = read_server_comment(run, job.comment);
    if (!said) continue;
    auto& server = newest[{said->name, said->replica}];
    if (job.job < server.job.job) continue;
    server = {said->name, said->replica, {0, job.job, job.state, job.reason, job.advice, job.submitted, job.active()}};
  }
  std::vector<jobs::ServerJob> servers;
  for (auto& [name, server] : newest) servers.push_back(std::move(server));
  return servers;
}

}  // namespace nkigrid::slurm
