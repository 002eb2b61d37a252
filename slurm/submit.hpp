#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"
#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

/// One submission of (part of) a run: its arrays and the aggregation. RUN/jobs.json keeps them (docs/formats/run_directory.md).
struct Submission {
  struct Array {
    std::uint32_t job = 0, offset = 0;
    std::string elements;  ///< "0-3,5"
  };
  std::uint32_t generation = 1;
  std::vector<Array> arrays;
  std::uint32_t aggregation = 0;  ///< job id; 0: not yet
};

std::vector<Submission> read_submissions(const jobs::Run& run);  ///< empty when RUN/jobs.json does not exist

/// What submit_shards() did.
struct SubmitReport {
  Submission submission;
  std::vector<std::uint32_t> busy_shards;  ///< already pending or running, left alone
  bool already = false;                    ///< nothing was left to submit
};

/// Submits the shards that no living job of this run works on, as arrays, and the aggregation behind every array that lives.
/// Each job is noted in RUN/jobs.json as soon as its id is known, and found again by its comment when a crash lost the note.
/// @param shards ascending @param program absolute path of nkigrid @param exclude nodes to leave out, besides slurm.exclude
/// @throws Error{config} when the site's limits refuse them, before the first submit; Error{external}.
SubmitReport submit_shards(const jobs::Run& run, const std::vector<std::uint32_t>& shards, Client& client, const std::string& program,
                           const std::vector<std::string>& exclude = {});

/// The scripts that submit_shards() would send, for `submit --dry-run`; needs no Slurm.
std::vector<std::string> dry_run_scripts(const jobs::Run& run, const std::vector<std::uint32_t>& shards, const Limits& limits,
                                         const std::string& program);

/// Ends every living job of the run. @returns their ids.
std::vector<std::uint32_t> cancel_run(const jobs::Run& run, Client& client);

/// How an element stands, for `status`.
struct ElementState {
  std::uint32_t shard = 0, job = 0;
  std::string state, reason, advice;
  double submitted = 0;  ///< Unix time [s]; 0: unknown
};
std::vector<ElementState> element_states(const jobs::Run& run, Client& client);

/// Things a submitted run may not have: keys from the environment. @throws Error{config} naming the model.
void check_submittable(const jobs::Grid& grid);

}  // namespace nkigrid::slurm
