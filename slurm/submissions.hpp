#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/base/files.hpp"
#include "jobs/run_directory.hpp"
#include "jobs/scheduler.hpp"
#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

// The submissions of a run, as RUN/jobs.json keeps them (docs/formats/run_directory.md), and the comments of its jobs.

/// @returns empty when RUN/jobs.json does not exist @throws Error{corrupt}
std::vector<jobs::Submission> read_submissions(const jobs::Run& run);
void write_submissions(const jobs::Run& run, const std::vector<jobs::Submission>& submissions);

/// Submits of one run come one after another; two at once would both see no job. Held until the descriptor is closed.
Fd lock_submits(const jobs::Run& run);

/// What the controller and RUN/jobs.json know of a run.
struct KnownJobs {
  std::vector<JobState> jobs;  ///< as the controller lists them
  std::vector<jobs::Submission> submissions;
};

/// Jobs and notes of this run alone (owner.hpp): the original's jobs are none of a copy's, and those of a run that was
/// moved stay its own.
KnownJobs known_jobs(const jobs::Run& run, Client& client);

/// Takes in living jobs whose note a crash lost between the call and the write, by their comments.
void adopt_unnoted(const jobs::Run& run, const std::vector<JobState>& jobs, std::vector<jobs::Submission>& submissions);

/// Array job -> its offset.
std::map<std::uint32_t, std::uint32_t> offsets_of(const std::vector<jobs::Submission>& submissions);

/// What the comment of a job says of it. Comments are the keys by which a run's jobs are found.
struct ElementsComment {
  std::uint32_t generation = 0, chunk = 0, offset = 0;
  std::uint32_t at_once = 0;  ///< Pace::at_once; 0: not said
};
std::string comment_prefix(const jobs::Run& run);  ///< begins the comment of every job of a run
std::string elements_comment(const jobs::Run& run, const ElementsComment& said);
std::string aggregation_comment(const jobs::Run& run, std::uint32_t generation);
/// Which replica of which server a job keeps.
struct ServerComment {
  std::string name;
  std::uint32_t replica = 0;
  std::uint32_t generation = 0;
  bool is_of(const std::string& server, std::uint32_t k) const { return name == server && replica == k; }
};
std::string server_comment(const jobs::Run& run, const ServerComment& said);
std::optional<ServerComment> read_server_comment(const jobs::Run& run, const std::string& comment);
/// Nothing when the comment is not that of an array of this run.
std::optional<ElementsComment> read_elements_comment(const jobs::Run& run, const std::string& comment);
std::optional<std::uint32_t> read_aggregation_comment(const jobs::Run& run,
                                                      const std::string& comment);  ///< its generation

/// The indices that a record of the job table stands for.
std::vector<std::uint32_t> elements_of(const JobState& job);

}  // namespace nkigrid::slurm
