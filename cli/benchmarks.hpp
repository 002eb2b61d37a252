#pragma once

#include <string>

#include "jobs/benchmark.hpp"

namespace nkigrid::cli {

/// The benchmark in a folder, else in one of that name among those that the project ships, else the frozen one of a
/// run.
/// @throws Error{config}
jobs::Benchmark open_benchmark(const std::string& name);

/// @throws Error{usage} with the nearest names when there is no such task
const jobs::Task& task_of(const jobs::Benchmark& benchmark, const std::string& id);

}  // namespace nkigrid::cli
