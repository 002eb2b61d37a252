#include "slurm/living.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "slurm/array_text.hpp"
#include "slurm/submissions.hpp"

namespace nkigrid::slurm {

namespace {

/// True when an element that runs was told to stop since it began: it only ends what it has in hand.
bool drains(const JobState& job, std::uint32_t shard, const std::map<std::uint32_t, double>& stopped) {
  const auto at = stopped.find(shard);
  return at != stopped.end() && job.state != "PENDING" && at->second >= job.started;
}

}  // namespace

Living living_of(const jobs::Run& run, const std::vector<JobState>& jobs,
                 const std::map<std::uint32_t, double>& stopped) {
  Living living;
  std::map<std::uint32_t, std::uint32_t> elements, throttles;  // by array job
  for (const auto& job : jobs) {
    if (!job.active()) continue;
    if (const auto generation = read_aggregation_comment(run, job.comment); generation && job.works())
      living.aggregation = std::max(living.aggregation, *generation);
    const auto comment = read_elements_comment(run, job.comment);
    if (!comment) continue;
    if (!job.works() || (job.element && drains(job, comment->offset + *job.element, stopped))) {
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

jobs::Others others_of(const jobs::Run& run, const std::vector<JobState>& jobs, std::uint32_t array,
                       std::uint32_t element) {
  jobs::Others others;
  for (const auto& job : jobs) {
    if (!job.works()) continue;
    others.aggregation = others.aggregation || read_aggregation_comment(run, job.comment);
    const auto comment = read_elements_comment(run, job.comment);
    if (!comment) continue;
    for (const auto other : elements_of(job)) {
      if (job.job == array && other == element) continue;
      if (job.state == "PENDING")
        others.waiting = true;
      else
        others.shards.push_back(comment->offset + other);
    }
  }
  return others;
}

}  // namespace nkigrid::slurm
