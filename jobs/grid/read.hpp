#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/grid/resolved.hpp"

namespace nkigrid::jobs {

/// A grid file as read, with what a frozen one holds beside the grid.
struct GridFile {
  std::optional<Grid> grid;
  std::optional<Resolved> resolved;
  std::optional<Benchmark> benchmark;
  std::vector<Problem> problems;
};
GridFile read_grid_file(const std::filesystem::path& file, const std::filesystem::path& configs,
                        const GridReading& reading = {});

}  // namespace nkigrid::jobs
