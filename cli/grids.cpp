#include "cli/grids.hpp"

#include "runner/device/paths.hpp"
#include "runner/device/pose.hpp"

namespace nkigrid::cli {

jobs::TaskPoser task_poser() {
  return [](const jobs::PoseRequest& request) {
    // Only now: most grids have an index, and need no helper program.
    return device::node_poser(device::default_device_paths(), jobs::CheckSpec{}.strict_sandbox)(request);
  };
}

jobs::Grid open_grid(const std::filesystem::path& file, const std::vector<std::string>& sets) {
  return jobs::load_grid(file, jobs::configs_folder(), {.poser = task_poser(), .sets = sets});
}

jobs::Benchmark benchmark_of(const jobs::Grid& grid) { return jobs::load_benchmark(grid.benchmark, task_poser()); }

}  // namespace nkigrid::cli
