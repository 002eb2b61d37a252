#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/grid/grid.hpp"

namespace nkigrid::slurm {

/// A batch job in our words; the plugin turns it into libslurm's.
struct JobRequest {
  std::string name;
  std::string comment;  ///< the idempotency key: an ambiguous submit is looked up by it
  std::string script;   ///< with its #! line
  std::string work_folder;
  std::string output;                    ///< pattern with %A, %a, %j; its folder exists
  std::vector<std::string> environment;  ///< NAME=value, from an allow-list; holds no key
  std::string array;                     ///< "0-7%4", or empty
  std::string dependency;                ///< "afterany:12:13", or empty
  jobs::SlurmSpec resources;             ///< partition, account, qos, ...
  std::uint32_t nodes = 1, tasks = 1, tasks_per_node = 1, cpus_per_task = 1;
  std::uint32_t time_minutes = 60;
  std::uint32_t warn_seconds =
      0;  ///< USR1 to the batch script this long before the limit; 0: none (Slurm may send it a minute early)
};

/// One record of the controller's job table.
struct JobState {
  std::uint32_t job = 0;                 ///< array id of an array's records
  std::optional<std::uint32_t> element;  ///< array index; none: no array, or a pending array as a whole
  std::string pending_elements;          ///< of a pending array record: "0-7%4"
  std::string state;                     ///< PENDING, RUNNING, COMPLETED, ...; UNKNOWN(n) for a state we do not know
  std::string reason;                    ///< why a pending job waits or how a job failed, in words
  std::string advice;                    ///< what to do about it, "" when there is nothing but to wait
  double submitted = 0;                  ///< Unix time [s]; 0: unknown
  double started = 0;                    ///< Unix time [s] of its newest start; 0: unknown
  std::string nodes, name, comment;
  std::string work_folder = {};  ///< where it works: copies of a run have the same comments; "": unknown
  bool active() const noexcept;  ///< pending, running, suspended or completing
  bool works() const noexcept;   ///< active, and not at its end: one that only completes begins nothing more
};

struct Limits {
  std::uint32_t max_array_size = 1001;  ///< one more than the highest index
  std::uint32_t max_job_count = 10000;
  std::uint32_t max_array_tasks = 0;  ///< SchedulerParameters' limit on the elements of one array; 0: none
};

struct Partition {
  struct Node {
    std::string name;
    std::uint32_t cpus = 0;
    std::uint64_t memory = 0;  ///< [MB]
    bool away = false;         ///< down, drained or draining: takes no job for now
  };
  std::string name;
  std::uint32_t max_minutes = 0;  ///< 0: no limit
  std::uint32_t nodes = 0;
  bool up = true, is_default = false;
  std::vector<Node> sizes;  ///< of its nodes; empty: not known
};

/// A Slurm controller. Every call returns within seconds.
/// @throws Error{external} that says what to do.
class Client {
 public:
  virtual ~Client() = default;
  virtual std::uint32_t submit(const JobRequest& request) = 0;
  /// Asks whether the controller would take a request; submits nothing.
  /// @returns "", or why it would be taken and would wait: nodes or partition are away
  /// @throws Error{external} as submit() would
  virtual std::string try_out(const JobRequest& request) = 0;
  /// Our jobs by their comment's beginning, in one bulk query; jobs that the controller has forgotten are absent.
  virtual std::vector<JobState> jobs(const std::string& comment_prefix) = 0;
  /// Ends a job or a whole array. An unknown or finished id is no error.
  virtual void cancel(std::uint32_t job) = 0;
  virtual Limits limits() = 0;
  /// Jobs of everybody that count towards max_job_count, each element of an array one.
  virtual std::uint32_t jobs_in_use() = 0;
  virtual std::vector<Partition> partitions() = 0;
  /// The library's release: "22.05.8".
  virtual std::string version() = 0;
  /// Seconds that a running job has left, -1 when it has no limit or is unknown.
  virtual long seconds_left(std::uint32_t job) = 0;
  /// The pending elements of an array leave `nodes` ("trn2,trn7") out from now on, in place of what they left out
  /// before.
  virtual void leave_out(std::uint32_t, const std::string&) {}
};

}  // namespace nkigrid::slurm
