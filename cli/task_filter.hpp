#pragma once

#include <string>
#include <vector>

#include "jobs/benchmark.hpp"

namespace CLI {
class App;
}

namespace nkigrid::cli {

/// Which tasks of a benchmark are meant: those that every filter lets through. Empty ones let all through.
struct TaskFilter {
  std::string subset, glob, level, category, dtype, tag;
  int rank = 0;  ///< of the first input; 0: any
};

void add_filter(CLI::App& app, TaskFilter& filter);

/// @throws Error{usage} for an unknown subset, level or category with what there is, and when no task is left
std::vector<const jobs::Task*> filtered(const jobs::Benchmark& benchmark, const TaskFilter& filter);

}  // namespace nkigrid::cli
