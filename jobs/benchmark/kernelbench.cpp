#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "jobs/benchmark/formats.hpp"

/// A stock KernelBench checkout, used as it is: level1 to level4 with files like 23_Softmax.py, at the top or under
/// KernelBench/. It says nothing of shapes: every task is posed by running it.
namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

constexpr int kLevels = 4;
constexpr std::size_t kNumberDigits = 3;
constexpr std::size_t kMostName = 60;

/// "23_Softmax" -> "023_Softmax": ids sort as numbers do, and hold letters, digits, _ and - only.
std::string id_name(const std::string& stem) {
  const auto digits = std::min(stem.find_first_not_of("0123456789"), stem.size());
  std::string name = digits < kNumberDigits && digits > 0 ? std::string(kNumberDigits - digits, '0') : "";
  for (const char c : stem) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-';
    if (kept)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  name.resize(std::min(name.size(), kMostName));
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

std::vector<UnposedTask> tree_tasks(const fs::path& root) {
  std::vector<UnposedTask> tasks;
  for (int level = 1; level <= kLevels; ++level) {
    const auto folder = fmt::format("level{}", level);
    for (const auto& file : python_files(root / folder)) {
      const auto id = fmt::format("L{}/{}", level, id_name(file.stem().native()));
      tasks.push_back({id, task_source(root, fs::path(folder) / file), "kernelbench"});
    }
  }
  return tasks;
}

Benchmark read_kernelbench(const BenchmarkPlace& place, const TaskPoser& poser) {
  std::error_code none;
  const auto root =
      fs::exists(place.folder / "KernelBench" / "level1", none) ? place.folder / "KernelBench" : place.folder;
  auto benchmark = pose_benchmark("kernelbench", tree_tasks(root), place, poser);
  add_whole_subset("kernelbench", benchmark);
  return benchmark;
}

}  // namespace

BenchmarkFormat kernelbench_format() {
  return {"kernelbench", {"level1", "level2", "level3", "level4", "KernelBench/level1"}, read_kernelbench};
}

}  // namespace nkigrid::jobs
