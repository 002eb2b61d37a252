#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/pace.hpp"
#include "jobs/run_directory.hpp"
#include "jobs/servers.hpp"
#include "slurm/slurm.hpp"

/// Pure builders of what is submitted. Nothing here talks to Slurm.
namespace nkigrid::slurm {

/// Part of an array: Slurm caps the index, so a large run is several arrays, each from 0, with an offset.
struct Chunk {
  std::uint32_t offset = 0;             ///< shard = offset + array index
  std::vector<std::uint32_t> elements;  ///< array indices, ascending
};

/// Splits shards (ascending) into arrays whose indices and counts the controller takes.
/// @param in_use jobs that the controller holds already
/// @throws Error{config} with the numbers when there are more elements than it has room for.
std::vector<Chunk> split(const std::vector<std::uint32_t>& shards, const Limits& limits, std::uint32_t in_use = 0);

/// How many elements of chunk `chunk` may run at once so that all chunks together keep to `throttle` (0: no limit).
/// With more chunks than that, chunk c waits for chunk c - throttle to end (waits_for()).
std::uint32_t throttle_share(std::uint32_t throttle, std::uint32_t chunk, std::uint32_t chunks);
std::optional<std::size_t> waits_for(std::uint32_t throttle, std::size_t chunk);

/// "afterany:12:13_4": when all of these jobs and elements have ended, however they end; "" for none.
/// @param begun jobs that must have begun besides: ",after:14"
std::string dependency_text(const std::vector<std::string>& ended, const std::vector<std::string>& begun = {});

/// What an element runs.
struct ElementCommand {
  std::string program;       ///< absolute path of nkigrid
  bool with_parked = false;  ///< also what infrastructure failures parked
};

/// What an element of the grid asks of Slurm, with the environment that it gets; no name, script, folder or array.
JobRequest resources_of(const jobs::Grid& grid);

/// The array jobs of a submission, one a chunk, without dependencies.
/// @param generation counts submissions of this run, from 1
/// Throws nothing on what Slurm would only find out later: see check_request().
std::vector<JobRequest> element_requests(const jobs::Run& run, const std::vector<Chunk>& chunks, const jobs::Pace& pace,
                                         std::uint32_t generation, const ElementCommand& command);

/// The aggregation job. It is to wait for all arrays to end, however they end, and checks completeness itself.
JobRequest aggregation_request(const jobs::Run& run, std::uint32_t generation, const std::string& program);

/// The job that keeps one replica of a model's server. It ends itself when the run has no element any more.
JobRequest server_request(const jobs::Run& run, const jobs::KeptServer& server, std::uint32_t replica,
                          std::uint32_t generation, const std::string& program);

/// What Slurm would accept and then fail without a word: a script without #!, an output folder that cannot be written,
/// no environment, no name, no work folder. @throws Error{config}
void check_request(const JobRequest& request);

/// Those that slurm.partition names ("a,b"), the default one where it names none; what does not exist is left out.
std::vector<Partition> named_partitions(const std::vector<Partition>& partitions, const std::string& list);

/// A request that no node count of its partitions can ever fulfil: Slurm takes it and leaves it pending for ever. A
/// partition that is not listed is left to Slurm.
/// @param server the model whose server's job it is; "": an element @throws Error{config} with numbers and keys
void check_fits(const JobRequest& request, const std::vector<Partition>& partitions, const std::string& server = {});

/// How many elements the partitions' nodes bear at once, by their CPUs and memory. Nothing where they are not listed.
std::optional<std::uint32_t> elements_that_fit(const jobs::SlurmSpec& spec, const std::vector<Partition>& partitions);

/// The same request as a script that `sbatch` accepts by hand.
std::string sbatch_script(const JobRequest& request);

/// The environment of our process reduced to an allow-list: nothing of an outer job, no key. PATH is made absolute.
std::vector<std::string> allowed_environment(char** environment);

}  // namespace nkigrid::slurm
