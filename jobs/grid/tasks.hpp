#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/folders.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {

/// The benchmark that `benchmark:` names, loaded; nothing when it has a problem.
std::optional<Benchmark> read_benchmark(const YamlNode& node, const Folders& folders, const TaskPoser& poser,
                                        Problems& problems);

/// What a `tasks:` stands for.
struct TaskChoice {
  std::string subset;            ///< when a subset was named
  std::vector<std::string> ids;  ///< sorted, each once
};
/// @returns nothing when the choice has a problem
std::optional<TaskChoice> read_tasks(const YamlNode& node, std::string_view path, const Benchmark& benchmark,
                                     Problems& problems);

}  // namespace nkigrid::jobs
