#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::slurm {

/// A batch job in our words; the plugin turns it into libslurm's.
struct JobRequest {
  std::string name, comment;  ///< comment: the run's key, by which an ambiguous submit is looked up
  std::string script;         ///< with #! line
  std::filesystem::path work_folder, output;
  std::vector<std::string> environment;  ///< NAME=value, from an allow-list; holds no key
  std::optional<std::string> array;      ///< "0-7%4"
  std::optional<std::string> dependency; ///< "afterany:12:13"
  jobs::SlurmSpec resources;
  std::uint32_t nodes = 1, tasks = 1, cpus_per_task = 1, time_minutes = 60, warn_seconds = 120;
};

struct JobState {
  std::uint32_t job = 0, array_job = 0;
  std::optional<std::uint32_t> element;  ///< array index; none: a pending array, or no array
  std::string array_elements;            ///< of a pending array record, "0-7%4"
  std::string state, reason, node, comment, name;
  double submitted = 0, started = 0, ended = 0;
};

struct Limits {
  std::uint32_t max_array_size = 1001, max_job_count = 10000;
};

/// A Slurm controller. Real: libslurm in a plugin that is loaded on demand. Every call returns within seconds.
/// @throws Error{external} with what to do.
class Client {
 public:
  virtual ~Client() = default;
  virtual std::uint32_t submit(const JobRequest& request) = 0;
  virtual std::vector<JobState> jobs(const std::string& comment_prefix) = 0;  ///< our jobs, one bulk query
  virtual void cancel(std::uint32_t job) = 0;                                 ///< whole array; unknown ids are no error
  virtual Limits limits() = 0;
};

/// Looks at the configuration, probes slurm_init in a child, loads the plugin. @throws Error{external} within 5 s.
std::unique_ptr<Client> connect();

}  // namespace nkigrid::slurm
