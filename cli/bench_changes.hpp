#pragma once

#include <string>
#include <vector>

#include "jobs/benchmark.hpp"

namespace nkigrid::cli {

/// Those of the tasks that are not as they were at a revision of the git tree that holds the benchmark's folder: task,
/// known kernel or index entry differs, or is new. @throws Error{usage} when there is no such tree or revision
std::vector<const jobs::Task*> changed_since(const std::string& revision, const jobs::Benchmark& benchmark,
                                             const std::vector<const jobs::Task*>& tasks);

}  // namespace nkigrid::cli
