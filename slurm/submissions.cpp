#include "slurm/submissions.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/json_depth.hpp"
#include "slurm/array_text.hpp"
#include "slurm/owner.hpp"

namespace nkigrid::slurm {
namespace {

using jobs::Submission;
using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kMostJobsBytes = std::size_t{16} << 20;  // some hundred thousand submissions
constexpr std::uint64_t kMostShards = 1'000'000;  // what slurm.shards may be; a run may have had more of them than now

std::filesystem::path jobs_file(const jobs::Run& run) { return run.folder / "jobs.json"; }

Submission& submission_of(std::vector<Submission>& submissions, std::uint32_t generation) {
  const auto at =
      std::find_if(submissions.begin(), submissions.end(), [&](const auto& s) { return s.generation == generation; });
  return at != submissions.end() ? *at : submissions.emplace_back(Submission{.generation = generation});
}

Submission::Array read_array(const json& noted, const std::filesystem::path& path) {
  Submission::Array array{noted.at("job"), noted.at("offset"), noted.at("elements")};
  const auto highest = highest_element(array.elements);
  if (highest && std::uint64_t{array.offset} + *highest < kMostShards) return array;
  throw Error(ErrorCode::corrupt, fmt::format("'{}' has elements '{}' from {} of job {}, which no run has; move it "
                                              "away, `resume` finds living jobs by their "
                                              "comments",
                                              path.native(), array.elements, array.offset, array.job));
}

}  // namespace

std::vector<Submission> read_submissions(const jobs::Run& run) {
  const auto path = jobs_file(run);
  if (!has_foreign_file(path.parent_path(), path.filename())) return {};
  std::vector<Submission> submissions;
  try {
    const auto text = read_foreign_file(path.parent_path(), path.filename(), kMostJobsBytes);
    const auto noted = json::parse(shallow_part(text));
    if (const auto version = noted.value("version", 1); version != kVersion) {
      throw Error(ErrorCode::config, fmt::format("'{}' is of version {} (this program reads {}); use a newer nkigrid",
                                                 path.native(), version, kVersion));
    }
    for (const auto& entry : noted.at("submissions")) {
      Submission submission{
          .generation = entry.at("generation"), .servers = {}, .arrays = {}, .aggregation = entry.at("aggregation")};
      for (const auto& array : entry.at("arrays")) submission.arrays.push_back(read_array(array, path));
      for (const auto& server : entry.value("servers", json::array()))
        submission.servers.push_back({server.at("job"), server.at("name"), server.at("replica")});
      submissions.push_back(std::move(submission));
    }
  } catch (const json::exception& error) {
    throw Error(
        ErrorCode::corrupt,
        fmt::format("'{}' is no list of submissions ({}); move it away, `resume` finds living jobs by their comments",
                    path.native(), error.what()));
  }
  return submissions;
}

void write_submissions(const jobs::Run& run, const std::vector<Submission>& submissions) {
  json list = json::array();
  for (const auto& submission : submissions) {
    json arrays = json::array();
    for (const auto& array : submission.arrays)
      arrays.push_back({{"job", array.job}, {"offset", array.offset}, {"elements", array.elements}});
    list.push_back(
        {{"generation", submission.generation}, {"arrays", arrays}, {"aggregation", submission.aggregation}});
    for (const auto& server : submission.servers)
      list.back()["servers"].push_back({{"job", server.job}, {"name", server.name}, {"replica", server.replica}});
  }
  write_file_atomic(jobs_file(run), json{{"version", kVersion}, {"submissions", list}}.dump(1) + "\n");
}

Fd lock_submits(const jobs::Run& run) {
  const auto path = run.folder / "log" / "locks" / "submit";
  make_directories(path.parent_path());
  Fd fd = open_own_file(path, O_RDWR);
  ::flock(fd.get(), LOCK_EX);  // without locks (NFS) submit_one() finds what another submit sent
  return fd;
}

KnownJobs known_jobs(const jobs::Run& run, Client& client) {
  KnownJobs known{.jobs = client.jobs(comment_prefix(run)), .submissions = read_submissions(run)};
  std::set<std::uint32_t> foreign;
  for (const auto& job : known.jobs) {
    if (!is_of_run(job, run)) foreign.insert(job.job);
  }
  std::erase_if(known.jobs, [&](const auto& job) { return foreign.contains(job.job); });
  for (auto& submission : known.submissions) {
    std::erase_if(submission.arrays, [&](const auto& array) { return foreign.contains(array.job); });
    std::erase_if(submission.servers, [&](const auto& server) { return foreign.contains(server.job); });
    if (foreign.contains(submission.aggregation)) submission.aggregation = 0;
  }
  adopt_unnoted(run, known.jobs, known.submissions);
  return known;
}

void adopt_unnoted(const jobs::Run& run, const std::vector<JobState>& jobs, std::vector<Submission>& submissions) {
  const auto noted = offsets_of(submissions);
  std::map<std::uint32_t, std::set<std::uint32_t>> elements;  // of arrays nobody noted
  std::map<std::uint32_t, ElementsComment> said;
  for (const auto& job : jobs) {
    if (!job.active()) continue;
    if (const auto generation = read_aggregation_comment(run, job.comment)) {
      if (auto& submission = submission_of(submissions, *generation); submission.aggregation == 0)
        submission.aggregation = job.job;
    }
    const auto comment = read_elements_comment(run, job.comment);
    if (!comment || noted.contains(job.job)) continue;
    said[job.job] = *comment;
    for (const auto element : elements_of(job)) elements[job.job].insert(element);
  }
  for (const auto& [job, comment] : said) {
    const std::vector<std::uint32_t> living(elements[job].begin(), elements[job].end());
    submission_of(submissions, comment.generation).arrays.push_back({job, comment.offset, array_text(living, 0)});
  }
}

std::map<std::uint32_t, std::uint32_t> offsets_of(const std::vector<Submission>& submissions) {
  std::map<std::uint32_t, std::uint32_t> offsets;
  for (const auto& submission : submissions) {
    for (const auto& array : submission.arrays) offsets[array.job] = array.offset;
  }
  return offsets;
}

std::string comment_prefix(const jobs::Run& run) { return fmt::format("nkigrid {} ", run.run_id); }

std::string elements_comment(const jobs::Run& run, const ElementsComment& said) {
  return fmt::format("{}elements {}.{} from {}, {} at once{}", comment_prefix(run), said.generation, said.chunk,
                     said.offset, said.at_once, folder_mark(run.folder));
}

std::string aggregation_comment(const jobs::Run& run, std::uint32_t generation) {
  return fmt::format("{}aggregation {}{}", comment_prefix(run), generation, folder_mark(run.folder));
}

std::string server_comment(const jobs::Run& run, const ServerComment& said) {
  return fmt::format("{}server {} of {} in {}{}", comment_prefix(run), said.replica, said.name, said.generation,
                     folder_mark(run.folder));
}

std::optional<ServerComment> read_server_comment(const jobs::Run& run, const std::string& comment) {
  const auto prefix = comment_prefix(run);
  if (comment.rfind(prefix, 0) != 0) return std::nullopt;
  ServerComment said;
  char name[64] = {};  // names of models have 40 characters at most
  if (std::sscanf(comment.c_str() + prefix.size(), "server %u of %63s in %u", &said.replica, name, &said.generation) !=
      3)
    return std::nullopt;
  said.name = name;
  return said;
}

std::optional<ElementsComment> read_elements_comment(const jobs::Run& run, const std::string& comment) {
  const auto prefix = comment_prefix(run);
  if (comment.rfind(prefix, 0) != 0) return std::nullopt;
  ElementsComment said;
  const int read = std::sscanf(comment.c_str() + prefix.size(), "elements %u.%u from %u, %u at once", &said.generation,
                               &said.chunk, &said.offset, &said.at_once);
  return read >= 3 ? std::optional(said) : std::nullopt;
}

std::optional<std::uint32_t> read_aggregation_comment(const jobs::Run& run, const std::string& comment) {
  const auto prefix = comment_prefix(run);
  std::uint32_t generation = 0;
  if (comment.rfind(prefix, 0) != 0 || std::sscanf(comment.c_str() + prefix.size(), "aggregation %u", &generation) != 1)
    return std::nullopt;
  return generation;
}

std::vector<std::uint32_t> elements_of(const JobState& job) {
  return job.element ? std::vector<std::uint32_t>{*job.element} : parse_elements(job.pending_elements);
}

}  // namespace nkigrid::slurm
