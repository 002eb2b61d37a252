#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "jobs/pace.hpp"
#include "jobs/run_directory.hpp"
#include "jobs/scheduler.hpp"
#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

/// What of a run is pending or running.
struct Living {
  std::set<std::uint32_t> shards, begun, arrays;  ///< begun: shards whose element runs
  std::map<std::uint32_t, std::string>
      completing;  ///< by shard: "101_3", an element that begins nothing more and still holds its node
  jobs::LivingElements elements;
  std::set<std::uint32_t> at_once;  ///< that its arrays were submitted with
  std::uint32_t generation = 0;     ///< the newest of its arrays
  std::uint32_t aggregation = 0;    ///< the newest aggregation's generation; 0: none lives
};

/// @param jobs those of the run (KnownJobs::jobs)
/// @param stopped by shard, when its owner noted that it begins nothing more (jobs::SubmitRequest::stopped)
Living living_of(const jobs::Run& run, const std::vector<JobState>& jobs,
                 const std::map<std::uint32_t, double>& stopped = {});

/// The same seen from element `element` of array job `array`, which leaves itself out.
jobs::Others others_of(const jobs::Run& run, const std::vector<JobState>& jobs, std::uint32_t array,
                       std::uint32_t element);

}  // namespace nkigrid::slurm
