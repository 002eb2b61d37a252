#pragma once

#include <span>
#include <string>
#include <vector>

#include "jobs/base/error.hpp"
#include "jobs/benchmark.hpp"

namespace nkigrid::cli {

/// One line a task, the subsets, and what could not be posed; or one JSON document.
ExitCode list_tasks(const jobs::Benchmark& benchmark, const std::vector<const jobs::Task*>& tasks, bool json);

/// What a model sees of a task, and what people want to know of it.
ExitCode show_task(const jobs::Benchmark& benchmark, const jobs::Task& task, bool json);

/// Characters of a column of task ids: the longest's, at least what most ids take.
std::size_t id_width(std::span<const std::string> ids);

/// "id: why", a line each, on stdout.
void print_refused(const std::vector<jobs::RefusedTask>& refused);

}  // namespace nkigrid::cli
