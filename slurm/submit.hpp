#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"
#include "slurm/pace.hpp"
#include "slurm/slurm.hpp"
#include "slurm/submissions.hpp"

namespace nkigrid::slurm {

/// What submit_shards() did.
struct SubmitReport {
  Submission submission;
  Pace pace;
  std::vector<std::uint32_t> busy_shards;  ///< already pending or running, left alone
  std::vector<std::uint32_t>
      begun_shards;                ///< those of them whose element runs: it knows the run as it was when it began
  bool already = false;            ///< no shard was left to submit
  bool aggregation_added = false;  ///< nothing but the aggregation was, which an earlier submit did not come to
};

/// Submits the shards that no living job of this run works on, as arrays, and the aggregation behind every array that
/// lives. Each job is noted in RUN/jobs.json as soon as its id is known, and found again by its comment when a crash
/// lost the note. Where two submits made the same array all the same (a file system without locks), the younger one is
/// cancelled.
/// @param shards ascending @param program absolute path of nkigrid @param exclude nodes to leave out, besides
/// slurm.exclude
/// @throws Error{config} when the site's limits refuse them, before the first submit; Error{external}.
SubmitReport submit_shards(const jobs::Run& run, const std::vector<std::uint32_t>& shards, Client& client,
                           const std::string& program, const std::vector<std::string>& exclude = {});

/// Ends every living job of the run. @returns their ids.
std::vector<std::uint32_t> cancel_run(const jobs::Run& run, Client& client);

/// How an element stands, for `status`.
struct ElementState {
  std::uint32_t shard = 0, job = 0;
  std::string state, reason, advice;
  double submitted = 0;  ///< Unix time [s]; 0: unknown
};
std::vector<ElementState> element_states(const jobs::Run& run, Client& client);

/// Things a submitted run may not have: keys from the environment, a folder whose name Slurm would read as a pattern.
/// @throws Error{config}
void check_submittable(const jobs::Grid& grid, const std::filesystem::path& folder);

}  // namespace nkigrid::slurm
