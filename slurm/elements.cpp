#include "slurm/elements.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/text.hpp"
#include "slurm/array_text.hpp"
#include "slurm/submissions.hpp"

namespace nkigrid::slurm {
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

std::vector<jobs::ElementState> element_states(const jobs::Run& run, Client& client) {
  auto submissions = read_submissions(run);
  const auto jobs = client.jobs(comment_prefix(run));
  adopt_unnoted(run, jobs, submissions);
  const auto offsets = offsets_of(submissions);
  std::map<std::uint32_t, jobs::ElementState> states;
  // Newest submission last: it says what a shard does now. A job that the controller forgot has ended; the log knows
  // how.
  for (const auto& submission : submissions) {
    for (const auto& array : submission.arrays) {
      for (const auto element : parse_elements(array.elements)) {
        const auto shard = array.offset + element;
        states[shard] = {shard, array.job, "ENDED", "no longer known to the controller", "", 0, false};
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
      states[shard] = {shard, job.job, job.state, std::move(reason), job.advice, job.submitted, job.active()};
    }
  }
  std::vector<jobs::ElementState> list;
  for (auto& [shard, state] : states) list.push_back(std::move(state));
  return list;
}

}  // namespace nkigrid::slurm
