#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/base/clock.hpp"

namespace nkigrid::jobs {

class Fields;
class FlowMap;
class Problems;
struct YamlNode;

/// What a batch system is asked for: by `slurm` for an element of the array, by a model's `server.slurm` for its
/// server.
struct SlurmSpec {
  bool given = false;  ///< the file has a `slurm` section; a frozen grid always has one
  std::string partition, account, qos, constraint, reservation, gres, exclude, mail_user;
  std::string mem;  ///< a node's memory as Slurm writes it: "65536M"; "0": all of it; "": the cluster's default
  std::uint32_t shards = 1;
  std::uint32_t nodes = 1;  ///< a shard
  std::uint32_t ranks_per_node = 1;
  std::uint32_t cpus_per_rank = 1;
  std::uint32_t throttle = 0;  ///< elements at once; 0: no limit
  Seconds time{4 * 3600};
  Seconds warn{120};  ///< USR1 this long before the limit
  std::vector<std::string>
      extra;  ///< further #SBATCH lines for --dry-run scripts and the job's options we do not model
};

/// Reads the section `slurm`; adds problems and reads on.
SlurmSpec read_slurm(const YamlNode& node, Problems& problems);
void write_slurm(const SlurmSpec& spec, FlowMap& map);

/// The keys that any batch job has: partition, account, qos, constraint, reservation, gres, exclude, mail_user, mem
/// and extra.
void read_job_keys(Fields& fields, SlurmSpec& spec);
/// All of them but `extra`, which stands last.
void write_job_keys(const SlurmSpec& spec, FlowMap& map);
void write_extra(const SlurmSpec& spec, FlowMap& map);

}  // namespace nkigrid::jobs
