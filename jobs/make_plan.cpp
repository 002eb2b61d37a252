#include "jobs/make_plan.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/dealing.hpp"
#include "jobs/keys.hpp"

namespace nkigrid::jobs {
namespace {

std::vector<PlannedTask> planned_tasks(const Grid& grid, const Benchmark& benchmark) {
  std::set<std::string> ids;
  for (const auto& cell : grid.cells) ids.insert(cell.tasks.begin(), cell.tasks.end());
  std::vector<PlannedTask> tasks;
  for (const auto& id : ids) {
    const auto* task = benchmark.find(id);
    if (task == nullptr)
      throw Error(ErrorCode::config, fmt::format("no task '{}' in benchmark {}", id, benchmark.name));
    tasks.push_back({task->id, task->level, task->category});
  }
  return tasks;
}

/// Index of each of a cell's tasks in the plan; both are sorted.
std::vector<std::uint32_t> task_indices(const CellSpec& cell, const std::vector<PlannedTask>& tasks) {
  std::vector<std::uint32_t> indices;
  std::size_t at = 0;
  for (const auto& id : cell.tasks) {
    while (tasks[at].id != id) ++at;
    indices.push_back(static_cast<std::uint32_t>(at));
  }
  return indices;
}

/// Hash of each task's known kernel, read once, and only when a model may ask for it.
std::vector<std::string> kernel_hashes(const Grid& grid, const Benchmark& benchmark,
                                       const std::vector<PlannedTask>& tasks) {
  std::vector<std::string> hashes(tasks.size());
  const bool wanted = std::any_of(grid.cells.begin(), grid.cells.end(), [&](const CellSpec& cell) {
    return needs_known_kernels(grid.model(cell.model).api);
  });
  for (std::size_t i = 0; wanted && i < tasks.size(); ++i) hashes[i] = sha256_hex(benchmark.known_kernel(tasks[i].id));
  return hashes;
}

}  // namespace

Plan make_plan(const Grid& grid, const Benchmark& benchmark, std::span<const PlanExtent> grown_from,
               const CostModel& costs) {
  Plan plan;
  plan.cells = grid.cells;
  plan.shards = grid.slurm.shards;
  plan.tasks = planned_tasks(grid, benchmark);
  plan.keys.resize(plan.cells.size() * plan.tasks.size());
  const auto kernels = kernel_hashes(grid, benchmark, plan.tasks);
  for (std::uint32_t cell = 0; cell < plan.cells.size(); ++cell) {
    const auto& spec = plan.cells[cell];
    const auto cell_fields = cell_key_fields(grid, spec);
    const bool starts_from_kernels = needs_known_kernels(grid.model(spec.model).api);
    for (const auto task : task_indices(spec, plan.tasks)) {
      const auto fields =
          task_key_fields(*benchmark.find(plan.tasks[task].id), starts_from_kernels ? kernels[task] : std::string());
      plan.keys[cell * plan.tasks.size() + task] = key_of(cell_fields, fields);
      for (std::uint32_t replicate = 1; replicate <= spec.replicates; ++replicate)
        plan.episodes.push_back({cell, task, replicate, 0});
    }
  }
  deal_shards(plan, expected_seconds(grid, plan, costs), grown_from);
  return plan;
}

}  // namespace nkigrid::jobs
