#include "slurm/submit.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "slurm/scripts.hpp"

namespace nkigrid::slurm {
namespace {

using nlohmann::json;

std::filesystem::path jobs_file(const jobs::Run& run) { return run.folder / "jobs.json"; }

void write_submissions(const jobs::Run& run, const std::vector<Submission>& submissions) {
  json list = json::array();
  for (const auto& submission : submissions) {
    json arrays = json::array();
    for (const auto& array : submission.arrays) arrays.push_back({{"job", array.job}, {"offset", array.offset}, {"elements", array.elements}});
    list.push_back({{"generation", submission.generation}, {"arrays", arrays}, {"aggregation", submission.aggregation}});
  }
  write_file_atomic(jobs_file(run), json{{"version", 1}, {"submissions", list}}.dump(1) + "\n");
}

/// Submits of one run come one after another; two at once would both see no job.
Fd lock_submits(const jobs::Run& run) {
  const auto path = run.folder / "log" / "locks" / "submit";
  make_directories(path.parent_path());
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) throw_errno(errno, "open", path.native());
  ::flock(fd.get(), LOCK_EX);  // without locks (NFS) the comment look-up still finds what another submit sent
  return fd;
}

/// "0-3,5%2" -> indices.
std::vector<std::uint32_t> parse_elements(std::string_view text) {
  std::vector<std::uint32_t> elements;
  text = text.substr(0, text.find('%'));
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto part = text.substr(0, comma);
    std::uint32_t first = 0, last = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), first);
    last = first;
    if (end != part.data() + part.size()) std::from_chars(end + 1, part.data() + part.size(), last);
    for (auto element = first; error == std::errc{} && element <= last; ++element) elements.push_back(element);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return elements;
}

/// Array job -> its offset.
std::map<std::uint32_t, std::uint32_t> offsets_of(const std::vector<Submission>& submissions) {
  std::map<std::uint32_t, std::uint32_t> offsets;
  for (const auto& submission : submissions) {
    for (const auto& array : submission.arrays) offsets[array.job] = array.offset;
  }
  return offsets;
}

bool is_element_job(const jobs::Run& run, const JobState& job) { return job.comment.rfind(comment_prefix(run) + "elements", 0) == 0; }

/// Shards that a living job works on or will.
std::set<std::uint32_t> living_shards(const jobs::Run& run, const std::vector<JobState>& jobs, const std::vector<Submission>& submissions) {
  const auto offsets = offsets_of(submissions);
  std::set<std::uint32_t> shards;
  for (const auto& job : jobs) {
    if (!job.active() || !is_element_job(run, job)) continue;
    const auto offset = offsets.at(job.job);
    if (job.element) shards.insert(offset + *job.element);
    else for (const auto element : parse_elements(job.pending_elements)) shards.insert(offset + element);
  }
  return shards;
}

/// Jobs whose note a crash lost between the call and the write: taken in by their comments.
void adopt_unnoted(const jobs::Run& run, const std::vector<JobState>& jobs, std::vector<Submission>& submissions) {
  const auto noted = offsets_of(submissions);
  for (const auto& job : jobs) {
    if (!job.active() || !is_element_job(run, job) || noted.contains(job.job)) continue;
    unsigned generation = 0, chunk = 0, offset = 0;
    if (std::sscanf(job.comment.c_str() + comment_prefix(run).size(), "elements %u.%u from %u", &generation, &chunk, &offset) != 3) continue;
    auto at = std::find_if(submissions.begin(), submissions.end(), [&](const auto& s) { return s.generation == generation; });
    if (at == submissions.end()) at = submissions.insert(submissions.end(), Submission{.generation = generation});
    if (std::any_of(at->arrays.begin(), at->arrays.end(), [&](const auto& array) { return array.job == job.job; })) continue;
    at->arrays.push_back({.job = job.job, .offset = offset, .elements = job.pending_elements});
  }
}

std::vector<std::uint32_t> living_arrays(const jobs::Run& run, const std::vector<JobState>& jobs) {
  std::set<std::uint32_t> ids;
  for (const auto& job : jobs) {
    if (job.active() && is_element_job(run, job)) ids.insert(job.job);
  }
  return {ids.begin(), ids.end()};
}

std::vector<JobRequest> element_requests(const jobs::Run& run, const std::vector<Chunk>& chunks, std::uint32_t generation, const std::string& program) {
  std::vector<JobRequest> requests;
  const auto count = static_cast<std::uint32_t>(chunks.size());
  for (std::uint32_t c = 0; c < count; ++c) requests.push_back(element_request(run, chunks[c], c, count, generation, program));
  return requests;
}

/// With more chunks than the throttle allows elements, chunk c waits for an earlier one.
std::optional<std::size_t> waits_for(const jobs::Run& run, std::size_t chunk) {
  const auto throttle = run.grid.slurm.throttle;
  return throttle > 0 && chunk >= throttle ? std::optional(chunk - throttle) : std::nullopt;
}

void add_excluded(JobRequest& request, const std::vector<std::string>& nodes) {
  for (const auto& node : nodes) request.resources.exclude += (request.resources.exclude.empty() ? "" : ",") + node;
}

}  // namespace

bool JobState::active() const noexcept {
  return state == "PENDING" || state == "RUNNING" || state == "SUSPENDED" || state == "COMPLETING";
}

std::vector<Submission> read_submissions(const jobs::Run& run) {
  const auto path = jobs_file(run);
  if (!std::filesystem::exists(path)) return {};
  std::vector<Submission> submissions;
  try {
    const auto noted = json::parse(read_file(path));
    for (const auto& entry : noted.at("submissions")) {
      Submission submission{.generation = entry.at("generation"), .arrays = {}, .aggregation = entry.at("aggregation")};
      for (const auto& array : entry.at("arrays")) submission.arrays.push_back({array.at("job"), array.at("offset"), array.at("elements")});
      submissions.push_back(std::move(submission));
    }
  } catch (const json::exception& error) {
    throw Error(ErrorCode::corrupt, fmt::format("'{}' is no list of submissions ({}); move it away, `resume` finds living jobs by their comments",
                                                path.native(), error.what()));
  }
  return submissions;
}

SubmitReport submit_shards(const jobs::Run& run, const std::vector<std::uint32_t>& shards, Client& client, const std::string& program,
                           const std::vector<std::string>& exclude) {
  const auto lock = lock_submits(run);
  auto submissions = read_submissions(run);
  const auto jobs = client.jobs(comment_prefix(run));
  adopt_unnoted(run, jobs, submissions);
  const auto busy = living_shards(run, jobs, submissions);
  SubmitReport report;
  std::vector<std::uint32_t> wanted;
  for (const auto shard : shards) (busy.contains(shard) ? report.busy_shards : wanted).push_back(shard);
  if (wanted.empty()) {
    report.already = true;
    if (!submissions.empty()) report.submission = submissions.back();
    return report;
  }
  const auto chunks = split(wanted, client.limits(), client.jobs_in_use());
  std::uint32_t generation = 1;
  for (const auto& submission : submissions) generation = std::max(generation, submission.generation + 1);
  auto requests = element_requests(run, chunks, generation, program);
  for (auto& request : requests) {
    add_excluded(request, exclude);
    check_request(request);
  }
  submissions.push_back({.generation = generation});
  auto& submission = submissions.back();
  auto arrays = living_arrays(run, jobs);
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    if (const auto before = waits_for(run, c)) requests[c].dependency = fmt::format("afterany:{}", submission.arrays[*before].job);
    submission.arrays.push_back({client.submit(requests[c]), chunks[c].offset, array_text(chunks[c].elements, 0)});
    arrays.push_back(submission.arrays.back().job);
    write_submissions(run, submissions);
  }
  submission.aggregation = client.submit(aggregation_request(run, arrays, generation, program));
  write_submissions(run, submissions);
  report.submission = submission;
  return report;
}

std::vector<std::string> dry_run_scripts(const jobs::Run& run, const std::vector<std::uint32_t>& shards, const Limits& limits,
                                         const std::string& program) {
  std::vector<std::string> scripts;
  for (const auto& request : element_requests(run, split(shards, limits), 1, program)) scripts.push_back(sbatch_script(request));
  return scripts;
}

std::vector<std::uint32_t> cancel_run(const jobs::Run& run, Client& client) {
  std::set<std::uint32_t> ids;
  for (const auto& job : client.jobs(comment_prefix(run))) {
    if (job.active()) ids.insert(job.job);
  }
  for (const auto id : ids) client.cancel(id);
  return {ids.begin(), ids.end()};
}

std::vector<ElementState> element_states(const jobs::Run& run, Client& client) {
  const auto submissions = read_submissions(run);
  const auto offsets = offsets_of(submissions);
  std::map<std::uint32_t, ElementState> states;
  // Newest submission last: it says what a shard does now. A job that the controller forgot has ended; the log knows how.
  for (const auto& submission : submissions) {
    for (const auto& array : submission.arrays) {
      for (const auto element : parse_elements(array.elements)) {
        const auto shard = array.offset + element;
        states[shard] = {shard, array.job, "ENDED", "no longer known to the controller", "", 0};
      }
    }
  }
  for (const auto& job : client.jobs(comment_prefix(run))) {
    if (!is_element_job(run, job) || !offsets.contains(job.job)) continue;
    const auto elements = job.element ? std::vector<std::uint32_t>{*job.element} : parse_elements(job.pending_elements);
    for (const auto element : elements) {
      const auto shard = offsets.at(job.job) + element;
      if (states[shard].job == job.job) states[shard] = {shard, job.job, job.state, job.reason, job.advice, job.submitted};
    }
  }
  std::vector<ElementState> list;
  for (auto& [shard, state] : states) list.push_back(std::move(state));
  return list;
}

void check_submittable(const jobs::Grid& grid) {
  for (const auto& model : grid.models) {
    if (model.key.kind != jobs::KeySource::Kind::env) continue;
    throw Error(ErrorCode::config, fmt::format("models.{}.key: {{env: {}}} cannot be submitted (no key travels in a job's environment); "
                                               "use {{file: PATH}} with mode 0600, or {{command: [...]}}", model.name, model.key.value));
  }
}

}  // namespace nkigrid::slurm
