#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"

/// Grid files and their benchmarks, as verbs open them: a benchmark that has no index is posed on this machine.
namespace nkigrid::cli {

/// @returns what poses tasks here
jobs::TaskPoser task_poser();

/// jobs::load_grid() with what the project ships.
/// @param sets what the command line sets @throws Error{config}
jobs::Grid open_grid(const std::filesystem::path& file, const std::vector<std::string>& sets = {});

/// The benchmark of a grid. @throws Error{config}
jobs::Benchmark benchmark_of(const jobs::Grid& grid);

}  // namespace nkigrid::cli
