#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"
#include "slurm/slurm.hpp"

/// Pure builders of what is submitted. Nothing here talks to Slurm.
namespace nkigrid::slurm {

/// Part of an array: Slurm caps the index, so a large run is several arrays, each from 0, with an offset.
struct Chunk {
  std::uint32_t offset = 0;             ///< shard = offset + array index
  std::vector<std::uint32_t> elements;  ///< array indices, ascending
};

/// Splits shards (ascending) into arrays of at most `max_array_size` indices.
/// @throws Error{config} with the numbers when there are more elements than the controller takes.
std::vector<Chunk> split(const std::vector<std::uint32_t>& shards, const Limits& limits);

/// "0-3,5%2": ranges, and the throttle's share of this chunk (0: none).
std::string array_text(const std::vector<std::uint32_t>& elements, std::uint32_t throttle);

/// What begins the comment of every job of a run: the key by which its jobs are found.
std::string comment_prefix(const jobs::Run& run);

/// The array job of one chunk.
/// @param program absolute path of nkigrid @param generation counts submissions of this run, from 1 @param chunks how many share the throttle
JobRequest element_request(const jobs::Run& run, const Chunk& chunk, std::uint32_t chunk_number, std::uint32_t chunks,
                           std::uint32_t generation, const std::string& program);

/// The aggregation job, which waits for all arrays to end, however they end, and checks completeness itself.
JobRequest aggregation_request(const jobs::Run& run, const std::vector<std::uint32_t>& arrays, std::uint32_t generation,
                               const std::string& program);

/// The same request as a script that `sbatch` accepts by hand.
std::string sbatch_script(const JobRequest& request);

/// The environment of our process reduced to an allow-list: nothing of an outer job, no key.
std::vector<std::string> allowed_environment(char** environment);

}  // namespace nkigrid::slurm
