#pragma once

// Where the shards of a run run when not here: what a batch system must be able to do. The command line asks these two,
// a room a batch system answers (slurm/), cli/schedulers.cpp lists them. docs/decisions/scheduler.md

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/finding.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/pace.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::jobs {

/// One submission of (part of) a run: arrays of elements, an element a shard, and the aggregation behind them all.
struct Submission {
  struct Array {
    std::uint32_t job = 0, offset = 0;  ///< shard = element + offset
    std::string elements;               ///< "0-3,5"
  };
  struct Server {
    std::uint32_t job = 0;
    std::string name;  ///< of the model that has it (jobs::KeptServer)
    std::uint32_t replica = 0;
  };
  std::uint32_t generation = 1;  ///< counts the submissions of a run
  std::vector<Server> servers;   ///< that it started; it may use living ones of earlier submissions
  std::vector<Array> arrays;
  std::uint32_t aggregation = 0;  ///< job id; 0: not yet
};

struct SubmitRequest {
  std::vector<std::uint32_t> shards;  ///< ascending; none: nothing but tables is wanted
  std::string program;                ///< absolute path of nkigrid
  /// Nodes to leave out, besides slurm.exclude, where enough others are left.
  std::vector<std::string> exclude;
  bool with_parked = false;  ///< elements run what infrastructure failures parked, too
  bool tables = false;       ///< an aggregation is wanted even where no element lives
  /// By shard, when its owner noted that it begins nothing more [Unix s]: an element that began before that only ends.
  std::map<std::uint32_t, double> stopped = {};
  std::vector<std::string> servers = {};  ///< names of those that the shards ask
};

/// What a submit did.
struct SubmitReport {
  Submission submission;
  Pace pace;
  std::vector<std::string> left_out;       ///< of SubmitRequest::exclude: all of them, or none
  std::vector<std::uint32_t> busy_shards;  ///< already pending or running, left alone
  std::vector<std::uint32_t>
      begun_shards;                 ///< those of them whose element runs: it knows the run as it was when it began
  bool arrays_added = false;        ///< the arrays of `submission` are new; else an earlier submit's, or none
  bool already = false;             ///< all shards that were asked for are busy
  bool aggregation_added = false;   ///< nothing but the aggregation was, which an earlier submit did not come to
  std::string aggregation_refused;  ///< why it is not in the queue: the last element to end makes the tables; ""
};

/// What a submit would do to a cluster where nothing of the run lives, as files of RUN/scripts that do it by hand.
struct DryRun {
  struct Script {
    std::string name, text;
  };
  std::vector<Script> scripts;
  std::string note;  ///< what is not known here and was taken for granted, or ""
};

/// How an element stands, for `status`.
struct ElementState {
  std::uint32_t shard = 0, job = 0;
  std::string state, reason, advice;
  double submitted = 0;  ///< Unix time [s]; 0: unknown
  bool active = false;   ///< its job lives
};

/// A job that keeps a replica of a model's server, for `status`.
struct ServerJob {
  std::string name;
  std::uint32_t replica = 0;
  ElementState job;  ///< its `shard` means nothing
};

/// The jobs of a run, for `status`.
struct RunJobs {
  std::vector<ElementState> elements;
  std::optional<ElementState> aggregation;  ///< the newest one's; its `shard` means nothing
  std::vector<ServerJob> servers;           ///< the newest of each replica that the batch system knows
};

/// What else of a run is at work or waits, seen from one of its elements.
struct Others {
  bool aggregation = false;           ///< a job that makes the tables stands
  bool waiting = false;               ///< elements that have not begun
  std::vector<std::uint32_t> shards;  ///< of elements that have begun, this one left out
};

/// A batch system, from where a run is submitted. Every call returns within seconds, unless it says otherwise.
/// @throws Error{external} that says what to do, where the batch system cannot be asked
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// Things a submitted run may not have: keys from the environment, a folder whose name cannot be handed on.
  /// @throws Error{config}
  virtual void check_submittable(const Grid& grid, const std::filesystem::path& folder) const = 0;
  /// Makes sure that it can be asked, before anything is written.
  virtual void connect() = 0;

  /// Submits the shards that no living job of the run works on, and the aggregation behind all that lives. Each job is
  /// noted as soon as its id is known; two submits at once, or one after a crash, make no element twice.
  /// @throws Error{config} when the site's limits refuse them, before the first submit
  virtual SubmitReport submit(const Run& run, const SubmitRequest& request) = 0;
  /// Needs no batch system. @throws Error{config} when the limits refuse the shards
  virtual DryRun dry_run(const Run& run, const SubmitRequest& request) = 0;
  /// Ends every living job of the run. @returns their ids
  virtual std::vector<std::uint32_t> cancel(const Run& run) = 0;

  /// True when a submit of the run is noted; asks nobody.
  virtual bool is_submitted(const Run& run) const = 0;
  virtual RunJobs jobs(const Run& run) = 0;
  /// How many elements of the grid the batch system's nodes bear at once. Nothing where it cannot be asked.
  virtual std::optional<std::uint32_t> room(const Grid& grid) = 0;

  /// Its part of `doctor`: itself, its limits, and whether `grid` fits them. None of it is needed to run here.
  virtual std::vector<Finding> look(const std::optional<Grid>& grid) = 0;
  /// Submits an array of two elements, a minute each, with the grid's resources: each runs `doctor` on its node. Waits
  /// for both, at most `patience`, and tells what they said.
  virtual std::vector<Finding> probe(const Grid& grid, const std::string& program, Seconds patience) = 0;
};

/// How to ask the batch system when the allocation ends. Neither function blocks; the answer comes when it comes, or
/// never.
struct EndQuestion {
  std::function<void()> ask;
  std::function<std::optional<double>()> answer;  ///< Unix time [s], once an answer
};

/// The batch job in which this process runs. Outside one nothing is known, and nothing happens.
class Allocation {
 public:
  virtual ~Allocation() = default;

  /// The shard that an array element is for, before its array's offset. @throws Error{usage}
  virtual std::optional<ShardId> element() const = 0;
  /// The batch system's name for this node, or "".
  virtual std::string node() const = 0;
  /// When it ends [Unix s]. May fork: before threads and MPI, on one rank.
  /// @param asked the time limit that the element was submitted with
  virtual std::optional<double> end(Seconds asked) const = 0;
  /// Asks anew for that end, which an administrator may move. Forks as end() does.
  virtual EndQuestion watch_end() const = 0;
  /// The elements of this process's array that still wait leave `nodes` ("trn2,trn7") out. @throws Error{external}
  virtual void leave_out_of_waiting(const std::string& nodes) const = 0;
  /// The job's id, or "".
  virtual std::string job() const = 0;
  /// Whether an element of the run waits or works. Where none does, submits of the run wait from then on until this
  /// object dies: the servers that end now are no longer there for what they send. True where nobody can say. Forks.
  virtual bool has_elements(const Run& run) = 0;
  /// Nothing outside an array. @throws Error{external}
  virtual std::optional<Others> others(const Run& run) const = 0;
};

}  // namespace nkigrid::jobs
