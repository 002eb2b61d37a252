#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {

/// Makes the run that judges a run's kernels anew: its cells, tasks, replicates, modes and conversations, on the
/// benchmark, seed, device and check of another grid. Its log holds the turns of each episode as those of an attempt
/// that died before its final check, so whoever runs it takes over: no model is asked and no tool is called, the final
/// and the best kernel are checked. It appears whole or not at all.
/// @param device what else stands in that grid is passed over
/// @param turns what the kernels are taken after, at most; 0: all
/// @throws Error{usage} when episodes are outstanding or `folder` exists; Error{config} when the benchmark lacks a
/// task; Error{corrupt} when the log lacks turns
void make_reverified_run(const jobs::Run& run, const log::Ledger& ledger, const jobs::Grid& device, std::uint32_t turns,
                         const std::filesystem::path& folder);

}  // namespace nkigrid::cli
