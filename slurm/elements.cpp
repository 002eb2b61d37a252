#include "slurm/elements.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/foreign_tail.hpp"
#include "jobs/base/text.hpp"
#include "slurm/array_text.hpp"
#include "slurm/reasons.hpp"
#include "slurm/server_jobs.hpp"
#include "slurm/submissions.hpp"

namespace nkigrid::slurm {
namespace {

/// The last line that a job printed, "" when it printed none. Ours if there is one: mpirun has its own words behind it.
std::string last_line(const std::filesystem::path& output) {
  std::istringstream file(foreign_tail(output.parent_path(), output.filename(), 4096));
  std::string line, last, ours;
  while (std::getline(file, line)) {
    if (line.find_first_not_of(" \r\t-") != std::string::npos) last = line;
    if (line.rfind("nkigrid: ", 0) == 0) ours = line.substr(std::string_view("nkigrid: ").size());
  }
  return printable((ours.empty() ? last : ours).substr(0, 300));
}

bool has_failed(const std::string& state) {
  return state == "FAILED" || state == "NODE_FAIL" || state == "BOOT_FAIL" || state == "OUT_OF_MEMORY" ||
         state == "TIMEOUT";
}

constexpr const char* kForgotten = "no longer known to the controller";

/// What to do about a job whose run was moved while it waited: it cannot begin where nothing stands. "": none such.
std::string advice_for_moved(const JobState& job) {
  const bool waits = job.state == "PENDING";
  std::error_code unknown;
  if (!(waits || job.reason == reason_of(kLaunchReason).words) || job.work_folder.empty() ||
      std::filesystem::exists(job.work_folder, unknown) || unknown)
    return {};
  return fmt::format("its folder '{}' is gone, and it cannot begin; {}", job.work_folder,
                     waits ? "cancel and resume" : "resume");
}

/// What a record of the job table says. @param said the last line that a failed job printed
jobs::ElementState state_of(const JobState& job, const std::string& said) {
  auto reason = job.reason;
  if (has_failed(job.state) && !said.empty()) reason += fmt::format("{}it said: {}", reason.empty() ? "" : "; ", said);
  auto advice = advice_for_moved(job);
  if (advice.empty()) advice = job.advice;
  return {0, job.job, job.state, std::move(reason), std::move(advice), job.submitted, job.active()};
}

void say_what_for(jobs::ElementState& state, std::string_view others) {
  if (state.reason == kWaitsForOthers) state.reason = others;
}

/// What an element that waits for other jobs waits for: the first replica of a server to begin, where one has not.
std::string_view others_before_elements(const std::vector<jobs::ServerJob>& servers) {
  const bool server_waits = std::any_of(servers.begin(), servers.end(), [](const auto& server) {
    return server.replica == 0 && server.job.state == "PENDING";
  });
  return server_waits ? "waits for the models' servers to begin" : "waits for earlier elements of the run to end";
}

/// The newest aggregation that a submission notes, or that the controller knows.
std::optional<jobs::ElementState> aggregation_state(const jobs::Run& run, const std::vector<JobState>& jobs,
                                                    const std::vector<jobs::Submission>& submissions) {
  std::uint32_t newest = 0;
  for (const auto& submission : submissions) newest = std::max(newest, submission.aggregation);
  for (const auto& job : jobs) {
    if (read_aggregation_comment(run, job.comment)) newest = std::max(newest, job.job);
  }
  if (newest == 0) return std::nullopt;
  for (const auto& job : jobs) {
    if (job.job != newest) continue;
    auto state = state_of(job, last_line(run.log_folder() / fmt::format("aggregation-{}.out", newest)));
    say_what_for(state, "waits for the arrays to end");
    state.advice = for_job(std::move(state.advice), std::to_string(newest));
    return state;
  }
  return jobs::ElementState{0, newest, "ENDED", kForgotten, "", 0, false};
}

}  // namespace

jobs::RunJobs run_jobs(const jobs::Run& run, Client& client) {
  const auto [jobs, submissions] = known_jobs(run, client);
  const auto offsets = offsets_of(submissions);
  std::map<std::uint32_t, jobs::ElementState> states;
  // Newest submission last: it says what a shard does now. A job that the controller forgot has ended; the log knows
  // how.
  for (const auto& submission : submissions) {
    for (const auto& array : submission.arrays) {
      for (const auto element : parse_elements(array.elements)) {
        const auto shard = array.offset + element;
        states[shard] = {shard, array.job, "ENDED", kForgotten, "", 0, false};
      }
    }
  }
  jobs::RunJobs all_jobs;
  all_jobs.servers = server_states(run, jobs);
  for (auto& server : all_jobs.servers) {
    say_what_for(server.job, "waits for an earlier job of its server to end");
    server.job.advice = for_job(std::move(server.job.advice), std::to_string(server.job.job));
  }
  const auto before_elements = others_before_elements(all_jobs.servers);
  for (const auto& job : jobs) {
    if (!read_elements_comment(run, job.comment) || !offsets.contains(job.job)) continue;
    for (const auto element : elements_of(job)) {
      const auto shard = offsets.at(job.job) + element;
      if (states[shard].job != job.job) continue;
      const auto name = fmt::format("{}_{}", job.job, element);
      auto state = state_of(job, last_line(run.log_folder() / fmt::format("element-{}.out", name)));
      state.shard = shard;
      say_what_for(state, before_elements);
      state.advice = for_job(std::move(state.advice), name);
      states[shard] = std::move(state);
    }
  }
  for (auto& [shard, state] : states) all_jobs.elements.push_back(std::move(state));
  all_jobs.aggregation = aggregation_state(run, jobs, submissions);
  return all_jobs;
}

}  // namespace nkigrid::slurm
