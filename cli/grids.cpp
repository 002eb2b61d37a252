#include "cli/grids.hpp"

#include "cli/task_bar.hpp"
#include "runner/device/paths.hpp"
#include "runner/device/pose.hpp"

namespace nkigrid::cli {

jobs::TaskPoser task_poser() {
  return [](const jobs::PoseRequest& request) {
    // Only now: most grids have an index, and need no helper program.
    TaskBar bar("refused");
    const auto watch = [&](const device::PosedSoFar& now) { bar.show(now.done, now.total, now.refused); };
    return device::node_poser(device::default_device_paths(), jobs::CheckSpec{}.strict_sandbox, watch)(request);
  };
}

jobs::Grid open_grid(const std::filesystem::path& file, const std::vector<std::string>& sets) {
  return jobs::load_grid(file, jobs::configs_folder(), {.poser = task_poser(), .sets = sets});
}

jobs::Benchmark benchmark_of(const jobs::Grid& grid) { return jobs::load_benchmark(grid.benchmark, task_poser()); }

}  // namespace nkigrid::cli
