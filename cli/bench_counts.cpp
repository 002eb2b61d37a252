#include "cli/bench_counts.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/task_filter.hpp"

namespace nkigrid::cli {

std::map<std::string, KindCounts> kinds_of(const jobs::Benchmark& benchmark, const std::vector<TaskProof>& proofs) {
  std::map<std::string, KindCounts> levels;
  for (const auto& proof : proofs) {
    const auto* task = benchmark.find(proof.id);
    if (task == nullptr) continue;
    auto& counts = levels[task->level];
    ++counts.tasks;
    counts.known_kernels += proof.known_kernel ? 1 : 0;
    ++counts.ranks[jobs::rank_of(*task)];
    counts.ragged += has_tag(benchmark, *task, "ragged") ? 1 : 0;
    counts.bfloat16 += has_dtype(*task, "bfloat16") ? 1 : 0;
    counts.integers += proof.integer_values >= kManyValues ? 1 : 0;
  }
  return levels;
}

KindCounts sum_of(const std::map<std::string, KindCounts>& levels) {
  KindCounts sum;
  for (const auto& [level, counts] : levels) {
    sum.tasks += counts.tasks;
    sum.known_kernels += counts.known_kernels;
    for (const auto& [rank, tasks] : counts.ranks) sum.ranks[rank] += tasks;
    sum.ragged += counts.ragged;
    sum.bfloat16 += counts.bfloat16;
    sum.integers += counts.integers;
  }
  return sum;
}

std::string kinds_text(const KindCounts& counts) {
  std::vector<std::string> ranks;
  for (const auto& [rank, tasks] : counts.ranks) ranks.push_back(fmt::format("{} of {}", tasks, rank));
  return fmt::format(
      "{} tasks, {} with a known kernel; inputs by axes: {}; {} ragged, {} bfloat16, {} integer "
      "({} values and more)",
      counts.tasks, counts.known_kernels, fmt::join(ranks, ", "), counts.ragged, counts.bfloat16, counts.integers,
      kManyValues);
}

}  // namespace nkigrid::cli
