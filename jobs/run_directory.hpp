#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "jobs/benchmark.hpp"
#include "jobs/forecast/costs.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/plan.hpp"

namespace nkigrid::jobs {

/// Why a secret that a run was frozen with is not at hand.
enum class Lost : std::uint8_t {
  no,         ///< it is, or there never was one
  gone,       ///< there is no such file
  unreadable  ///< to this user: a run that others share with him
};

/// A frozen run: RUN/grid.yaml, RUN/inputs, RUN/plan (docs/formats/run_directory.md). A run never reads the benchmark
/// again.
struct Run {
  std::filesystem::path folder;
  Grid grid;            ///< its paths point into RUN/inputs
  Benchmark benchmark;  ///< from RUN/inputs
  Plan plan;
  CostModel costs;     ///< that it was frozen with; its shards are balanced by them as long as it lives
  std::string run_id;  ///< random, 16 hex digits; never an input of a draw
  std::string grid_hash;
  std::string secret;  ///< an input of draws, see run_secret.hpp; "": frozen before there were any, or lost
  Lost lost_secret = Lost::no;
  std::string log_key;           ///< seals the log, see run_secret.hpp; "": none, it is unverified
  Lost lost_log_key = Lost::no;  ///< read on, write nothing, see require_log_key()

  std::filesystem::path log_folder() const { return folder / "log"; }
};

/// Freezes `grid` into `folder` and returns the run. An existing run with the same keys and seed is opened; one that
/// `grid` only grows (replicates, tasks, cells) is extended.
/// @param costs learnt from earlier runs; a run that exists keeps those it was frozen with, so that its episodes keep
/// their shards
/// @throws Error{config} (exit 2) with the difference when the seed or a key under an existing (cell, task) differs;
///         Error{io} when the folder cannot be written: nothing half made is left that load_run() would accept.
Run freeze_run(const Grid& grid, const Benchmark& benchmark, const std::filesystem::path& folder,
               const CostModel& costs = {});

/// Opens a frozen run. @throws Error{config} when `folder` is no run; Error{corrupt} when a frozen input does not match
/// its hash.
Run load_run(const std::filesystem::path& folder);

/// What tells whether a log's files are a run's.
struct RunName {
  std::string run_id, log_key;
  Lost lost_log_key = Lost::no;
};

/// Who writes to a log calls it: without its key, sealed records would be written anew without seals, and would count
/// as forged once the key is back. @param lost Run's or RunName's lost_log_key @throws Error{corrupt}, Error{io}
void require_log_key(const std::filesystem::path& folder, Lost lost);

/// Who draws inputs calls it. @throws Error{io} where this user cannot read the run's secret
void require_secret(const Run& run);

/// What is said of a log that is read without a key. @param lost Run's or RunName's lost_log_key
std::string unverified_words(Lost lost);

/// Of a frozen run, whatever became of its inputs: for those who only touch its log.
/// @throws Error{config} when `folder` is no run, Error{corrupt} when its grid.yaml does not tell
RunName read_run_name(const std::filesystem::path& folder);

/// True when `path` is a folder that holds a frozen run.
bool is_run(const std::filesystem::path& path) noexcept;

}  // namespace nkigrid::jobs
