#include "slurm/submit.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/text.hpp"
#include "slurm/array_text.hpp"
#include "slurm/scripts.hpp"

namespace nkigrid::slurm {
namespace {

/// Submits of one run come one after another; two at once would both see no job.
Fd lock_submits(const jobs::Run& run) {
  const auto path = run.folder / "log" / "locks" / "submit";
  make_directories(path.parent_path());
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) throw_errno(errno, "open", path.native());
  ::flock(fd.get(), LOCK_EX);  // without locks (NFS) submit_one() finds what another submit sent
  return fd;
}

/// What of a run is pending or running.
struct Living {
  std::set<std::uint32_t> shards, begun, arrays;  ///< begun: shards whose element runs
  std::map<std::uint32_t, std::string>
      completing;  ///< by shard: "101_3", an element that does no more work and still holds its node
  LivingElements elements;
  std::set<std::uint32_t> at_once;  ///< that its arrays were submitted with
  std::uint32_t generation = 0;     ///< the newest of its arrays
  std::uint32_t aggregation = 0;    ///< the newest aggregation's generation; 0: none lives
};

Living living_of(const jobs::Run& run, const std::vector<JobState>& jobs) {
  Living living;
  std::map<std::uint32_t, std::uint32_t> elements, throttles;  // by array job
  for (const auto& job : jobs) {
    if (!job.active()) continue;
    if (const auto generation = read_aggregation_comment(run, job.comment); generation && job.works())
      living.aggregation = std::max(living.aggregation, *generation);
    const auto comment = read_elements_comment(run, job.comment);
    if (!comment) continue;
    if (!job.works()) {
      for (const auto element : elements_of(job))
        living.completing[comment->offset + element] = fmt::format("{}_{}", job.job, element);
      continue;
    }
    living.arrays.insert(job.job);
    living.at_once.insert(comment->at_once);
    living.generation = std::max(living.generation, comment->generation);
    for (const auto element : elements_of(job)) {
      living.shards.insert(comment->offset + element);
      if (job.state != "PENDING") living.begun.insert(comment->offset + element);
    }
    elements[job.job] += static_cast<std::uint32_t>(elements_of(job).size());
    if (!job.element) throttles[job.job] = throttle_of(job.pending_elements);
  }
  for (const auto& [job, count] : elements) {
    const auto throttle = throttles[job];
    living.elements.working += throttle == 0 ? count : std::min(count, throttle);
  }
  if (living.at_once.size() == 1) living.elements.at_once = *living.at_once.begin();
  return living;
}

void add_excluded(JobRequest& request, const std::vector<std::string>& nodes) {
  for (const auto& node : nodes) request.resources.exclude += (request.resources.exclude.empty() ? "" : ",") + node;
}

/// One job of this comment in the end: without locks another submit may have sent the same at the same time, and the
/// older one stays.
std::uint32_t submit_one(Client& client, const JobRequest& request) {
  const auto job = client.submit(request);
  std::uint32_t oldest = job;
  for (const auto& known : client.jobs(request.comment)) {
    if (known.active() && known.comment == request.comment) oldest = std::min(oldest, known.job);
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

  /// Elements wait for what still completes of their own shards, too: it may hold the shard's lock for a while.
  void arrays(const std::vector<Chunk>& chunks, std::vector<JobRequest> requests, const Living& living,
              const Pace& pace) {
    auto& submission = submissions_.back();
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      auto before = pace.after_living ? named(living.arrays) : std::vector<std::string>();
      if (const auto earlier = waits_for(pace.throttle, c))
        before.push_back(std::to_string(submission.arrays[*earlier].job));
      for (const auto element : chunks[c].elements) {
        if (const auto at = living.completing.find(chunks[c].offset + element); at != living.completing.end())
          before.push_back(at->second);
      }
      requests[c].dependency = dependency_text(before);
      after_submitted(submission, [&] {
        submission.arrays.push_back(
            {submit_one(client_, requests[c]), chunks[c].offset, array_text(chunks[c].elements, 0)});
        write_submissions(run_, submissions_);
      });
    }
  }

  void aggregation(Submission& submission, const std::set<std::uint32_t>& arrays, const std::string& program) {
    auto request = aggregation_request(run_, submission.generation, program);
    request.dependency = dependency_text(named(arrays));
    after_submitted(submission, [&] {
      check_request(request);
      submission.aggregation = submit_one(client_, request);
      write_submissions(run_, submissions_);
    });
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
      throw Error(ErrorCode::external, fmt::format("array {} is submitted, and what belongs behind it is not: {}; "
                                                   "`nkigrid resume {}` makes up for it, `nkigrid cancel` "
                                                   "ends it",
                                                   fmt::join(arrays, ", "), error.what(), run_.folder.native()));
    }
  }

  const jobs::Run& run_;
  Client& client_;
  std::vector<Submission>& submissions_;
};

/// Every shard is at work: an earlier submit may have died before its aggregation.
void complete(const jobs::Run& run, Client& client, const std::string& program, const Living& living,
              std::vector<Submission>& submissions, SubmitReport& report) {
  report.already = true;
  if (submissions.empty()) return;
  auto& newest = *std::max_element(submissions.begin(), submissions.end(),
                                   [](const auto& a, const auto& b) { return a.generation < b.generation; });
  if (!living.arrays.empty() && living.aggregation < living.generation) {
    Submitting(run, client, submissions).aggregation(newest, living.arrays, program);
    report.aggregation_added = true;
  }
  report.submission = newest;
}

}  // namespace

bool JobState::active() const noexcept { return works() || state == "COMPLETING"; }

bool JobState::works() const noexcept { return state == "PENDING" || state == "RUNNING" || state == "SUSPENDED"; }

SubmitReport submit_shards(const jobs::Run& run, const std::vector<std::uint32_t>& shards, Client& client,
                           const std::string& program, const std::vector<std::string>& exclude) {
  const auto lock = lock_submits(run);
  auto submissions = read_submissions(run);
  const auto jobs = client.jobs(comment_prefix(run));
  adopt_unnoted(run, jobs, submissions);
  const auto living = living_of(run, jobs);
  SubmitReport report;
  std::vector<std::uint32_t> wanted;
  for (const auto shard : shards) (living.shards.contains(shard) ? report.busy_shards : wanted).push_back(shard);
  std::copy_if(report.busy_shards.begin(), report.busy_shards.end(), std::back_inserter(report.begun_shards),
               [&](std::uint32_t shard) { return living.begun.contains(shard); });
  if (wanted.empty()) {
    complete(run, client, program, living, submissions, report);
    return report;
  }
  report.pace = pace_of(run.grid, static_cast<std::uint32_t>(wanted.size()), living.elements);
  const auto chunks = split(wanted, client.limits(), client.jobs_in_use());
  std::uint32_t generation = 1;
  for (const auto& submission : submissions) generation = std::max(generation, submission.generation + 1);
  auto requests = element_requests(run, chunks, report.pace, generation, program);
  const auto partitions = client.partitions();
  for (auto& request : requests) {
    add_excluded(request, exclude);
    check_request(request);
    check_fits(request, partitions);
  }
  submissions.push_back({.generation = generation});
  Submitting submitting(run, client, submissions);
  submitting.arrays(chunks, std::move(requests), living, report.pace);
  auto arrays = living.arrays;
  for (const auto& array : submissions.back().arrays) arrays.insert(array.job);
  submitting.aggregation(submissions.back(), arrays, program);
  report.submission = submissions.back();
  return report;
}

std::vector<std::uint32_t> cancel_run(const jobs::Run& run, Client& client) {
  std::set<std::uint32_t> ids;
  for (const auto& job : client.jobs(comment_prefix(run))) {
    if (job.active()) ids.insert(job.job);
  }
  for (const auto id : ids) client.cancel(id);
  return {ids.begin(), ids.end()};
}

namespace {

/// The last line that an element printed, "" when it printed none. Ours if there is one: mpirun has its own words
/// behind it.
std::string last_line(const jobs::Run& run, std::uint32_t job, std::uint32_t element) {
  std::ifstream file(run.log_folder() / fmt::format("element-{}_{}.out", job, element),
                     std::ios::binary | std::ios::ate);
  if (!file) return {};
  constexpr std::streamoff kTail = 4096;
  file.seekg(std::max<std::streamoff>(0, file.tellg() - kTail));
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

}  // namespace

std::vector<ElementState> element_states(const jobs::Run& run, Client& client) {
  auto submissions = read_submissions(run);
  const auto jobs = client.jobs(comment_prefix(run));
  adopt_unnoted(run, jobs, submissions);
  const auto offsets = offsets_of(submissions);
  std::map<std::uint32_t, ElementState> states;
  // Newest submission last: it says what a shard does now. A job that the controller forgot has ended; the log knows
  // how.
  for (const auto& submission : submissions) {
    for (const auto& array : submission.arrays) {
      for (const auto element : parse_elements(array.elements)) {
        const auto shard = array.offset + element;
        states[shard] = {shard, array.job, "ENDED", "no longer known to the controller", "", 0};
      }
    }
  }
  for (const auto& job : jobs) {
    if (!read_elements_comment(run, job.comment) || !offsets.contains(job.job)) continue;
    for (const auto element : elements_of(job)) {
      const auto shard = offsets.at(job.job) + element;
      if (states[shard].job != job.job) continue;
      auto reason = job.reason;
      if (has_failed(job.state)) {
        if (const auto said = last_line(run, job.job, element); !said.empty())
          reason += fmt::format("{}it said: {}", reason.empty() ? "" : "; ", said);
      }
      states[shard] = {shard, job.job, job.state, std::move(reason), job.advice, job.submitted};
    }
  }
  std::vector<ElementState> list;
  for (auto& [shard, state] : states) list.push_back(std::move(state));
  return list;
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
    const auto* remote = jobs::remote_of(model.api);
    if (remote == nullptr || remote->key.kind != jobs::KeySource::Kind::env) continue;
    throw Error(ErrorCode::config,
                fmt::format("models.{}.key: {{env: {}}} cannot be submitted (no key travels in a job's environment); "
                            "use {{file: PATH}} with mode 0600, or {{command: [...]}}",
                            model.name, remote->key.value));
  }
}

}  // namespace nkigrid::slurm
