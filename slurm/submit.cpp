#include "slurm/submit.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "slurm/array_text.hpp"
#include "slurm/living.hpp"
#include "slurm/request_parts.hpp"
#include "slurm/scripts.hpp"
#include "slurm/server_jobs.hpp"
#include "slurm/submissions.hpp"

namespace nkigrid::slurm {
namespace {

using jobs::Submission;
using jobs::SubmitReport;

void add_excluded(JobRequest& request, const std::vector<std::string>& nodes) {
  for (const auto& node : nodes) request.resources.exclude += (request.resources.exclude.empty() ? "" : ",") + node;
}

/// One job of this comment in the end: without locks another submit may have sent the same at the same time, and the
/// older one stays.
std::uint32_t submit_one(Client& client, const JobRequest& request) {
  const auto job = client.submit(request);
  std::uint32_t oldest = job;
  for (const auto& known : client.jobs(request.comment)) {
    if (known.active() && is_of(known, request)) oldest = std::min(oldest, known.job);
  }
  if (oldest != job) client.cancel(job);
  return oldest;
}

std::vector<std::string> named(const std::set<std::uint32_t>& ids) {
  std::vector<std::string> names;
  for (const auto id : ids) names.push_back(std::to_string(id));
  return names;
}

/// Submits the arrays and the aggregation of a new submission, noting each as soon as its id is known.
class Submitting {
 public:
  Submitting(const jobs::Run& run, Client& client, std::vector<Submission>& submissions)
      : run_(run), client_(client), submissions_(submissions) {}

  /// Before the elements, which wait for the first replica of each to begin.
  void servers(ServerJobs plan) {
    auto& submission = submissions_.back();
    begin_first_ = std::move(plan.begin_first);
    for (std::size_t s = 0; s < plan.missing.size(); ++s) {
      auto server = plan.wanted[s];
      server.job = submit_one(client_, plan.missing[s]);
      if (server.replica == 0) begin_first_.push_back(std::to_string(server.job));
      submission.servers.push_back(std::move(server));
      write_submissions(run_, submissions_);
    }
  }

  /// Elements wait for what still completes of their own shards, too: it may hold the shard's lock for a while.
  void arrays(const std::vector<Chunk>& chunks, std::vector<JobRequest> requests, const Living& living,
              const jobs::Pace& pace) {
    auto& submission = submissions_.back();
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      auto before = pace.after_living ? named(living.arrays) : std::vector<std::string>();
      if (const auto earlier = waits_for(pace.throttle, c))
        before.push_back(std::to_string(submission.arrays[*earlier].job));
      for (const auto element : chunks[c].elements) {
        if (const auto at = living.completing.find(chunks[c].offset + element); at != living.completing.end())
          before.push_back(at->second);
      }
      requests[c].dependency = dependency_text(before, begin_first_);
      after_submitted(submission, [&] {
        submission.arrays.push_back(
            {submit_one(client_, requests[c]), chunks[c].offset, array_text(chunks[c].elements, 0)});
        write_submissions(run_, submissions_);
      });
    }
  }

  /// Behind what lives, or at once where nothing does.
  void aggregation(Submission& submission, const std::set<std::uint32_t>& arrays, const std::string& program) {
    auto request = aggregation_request(run_, submission.generation, program);
    request.dependency = dependency_text(named(arrays));
    check_request(request);
    submission.aggregation = submit_one(client_, request);
    write_submissions(run_, submissions_);
  }

 private:
  /// An error after the first job tells what is in the queue already.
  template <class Step>
  void after_submitted(const Submission& submission, Step step) {
    try {
      step();
    } catch (const Error& error) {
      if (submission.arrays.empty()) throw;
      std::vector<std::uint32_t> arrays;
      for (const auto& array : submission.arrays) arrays.push_back(array.job);
      throw Error(ErrorCode::external,
                  fmt::format("array {} is submitted, and the next one is not: {}; `nkigrid resume {}` makes up for "
                              "it, `nkigrid cancel` ends it",
                              fmt::join(arrays, ", "), error.what(), run_.folder.native()));
    }
  }

  const jobs::Run& run_;
  Client& client_;
  std::vector<Submission>& submissions_;
  std::vector<std::string> begin_first_;  ///< servers' jobs
};

std::uint32_t next_generation(const std::vector<Submission>& submissions) {
  std::uint32_t generation = 1;
  for (const auto& submission : submissions) generation = std::max(generation, submission.generation + 1);
  return generation;
}

/// No shard is left to submit. An aggregation may be: an earlier submit died before it, or it ended without its tables.
void complete(const jobs::Run& run, Client& client, const jobs::SubmitRequest& request, const Living& living,
              std::vector<Submission>& submissions, SubmitReport& report) {
  report.already = !request.shards.empty();
  const bool stands = living.aggregation > 0 && living.aggregation >= living.generation;
  if (!stands && (!living.arrays.empty() || request.tables)) {
    const auto newest = std::max_element(submissions.begin(), submissions.end(),
                                         [](const auto& a, const auto& b) { return a.generation < b.generation; });
    // One that was made is not made again: its comment is taken.
    auto& submission = newest != submissions.end() && newest->aggregation == 0
                           ? *newest
                           : submissions.emplace_back(Submission{.generation = next_generation(submissions)});
    try {
      Submitting(run, client, submissions).aggregation(submission, living.arrays, request.program);
      report.aggregation_added = true;
    } catch (const Error& error) {
      if (living.arrays.empty()) throw;
      report.aggregation_refused = error.what();
    }
    report.submission = submission;
  } else if (!submissions.empty()) {
    report.submission = submissions.back();
  }
}

}  // namespace

jobs::SubmitReport submit_shards(const jobs::Run& run, const jobs::SubmitRequest& request, Client& client) {
  const auto lock = lock_submits(run);
  auto [jobs, submissions] = known_jobs(run, client);
  const auto living = living_of(run, jobs, request.stopped);
  SubmitReport report;
  std::vector<std::uint32_t> wanted;
  for (const auto shard : request.shards)
    (living.shards.contains(shard) ? report.busy_shards : wanted).push_back(shard);
  std::copy_if(report.busy_shards.begin(), report.busy_shards.end(), std::back_inserter(report.begun_shards),
               [&](std::uint32_t shard) { return living.begun.contains(shard); });
  if (wanted.empty()) {
    complete(run, client, request, living, submissions, report);
    return report;
  }
  report.pace = jobs::pace_of(run.grid, static_cast<std::uint32_t>(wanted.size()), living.elements);
  const auto generation = next_generation(submissions);
  auto servers = plan_servers(run, request.servers, jobs, generation, request.program);
  const auto chunks =
      split(wanted, client.limits(), client.jobs_in_use() + static_cast<std::uint32_t>(servers.missing.size()));
  auto requests = element_requests(run, chunks, report.pace, generation, {request.program, request.with_parked});
  const auto partitions = client.partitions();
  for (auto& element : requests) {
    add_excluded(element, request.exclude);
    check_request(element);
    check_fits(element, partitions);
  }
  for (std::size_t s = 0; s < servers.missing.size(); ++s)
    check_fits(servers.missing[s], partitions, servers.wanted[s].name);
  submissions.push_back({.generation = generation});
  Submitting submitting(run, client, submissions);
  submitting.servers(std::move(servers));
  submitting.arrays(chunks, std::move(requests), living, report.pace);
  report.arrays_added = true;
  auto arrays = living.arrays;
  for (const auto& array : submissions.back().arrays) arrays.insert(array.job);
  try {
    submitting.aggregation(submissions.back(), arrays, request.program);
  } catch (const Error& error) {
    report.aggregation_refused = error.what();
  }
  report.submission = submissions.back();
  return report;
}

std::vector<std::uint32_t> cancel_run(const jobs::Run& run, Client& client) {
  std::set<std::uint32_t> ids;
  for (const auto& job : known_jobs(run, client).jobs) {
    if (job.active()) ids.insert(job.job);
  }
  for (const auto id : ids) client.cancel(id);
  return {ids.begin(), ids.end()};
}

void check_launcher() {
  if (find_program("mpirun")) return;
  throw Error(
      ErrorCode::external,
      "no 'mpirun' in PATH, with which each element would start its ranks (PATH travels with the job); load the "
      "module of the MPI that nkigrid was built with, or add its bin folder to PATH, then submit");
}

void check_submittable(const jobs::Grid& grid, const std::filesystem::path& folder) {
  const auto path = std::filesystem::absolute(folder).native();
  if (path.find_first_of("%\\\n") != std::string::npos) {
    throw Error(ErrorCode::config, fmt::format("'{}' cannot be submitted (Slurm reads '%' and '\\' in the path of a "
                                               "job's output as a pattern, a line break as "
                                               "its end); choose a RUN without them",
                                               path));
  }
  for (const auto& model : grid.models) {
    for (const auto& source : jobs::key_sources(model.api)) {
      if (source.kind != jobs::KeySource::Kind::env) continue;
      throw Error(ErrorCode::config,
                  fmt::format("models.{}: {{env: {}}} cannot be submitted (no key travels in a job's environment); "
                              "use {{file: PATH}} with mode 0600, or {{command: [...]}}",
                              model.name, source.value));
    }
  }
}

}  // namespace nkigrid::slurm
