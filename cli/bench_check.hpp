#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/bench_proof.hpp"
#include "jobs/base/error.hpp"
#include "jobs/benchmark.hpp"

namespace nkigrid::cli {

/// Proves tasks on all cores: their index agrees with torch, known kernels pass both rules, trivial kernels and cheap
/// answers fail. A bar on stderr where that is a terminal.
/// @param known gives a task's known kernel, or ""
/// @returns one proof a task, in order. @throws Error{external} when the proof itself cannot run.
/// @pre no thread is running: fork servers are started.
std::vector<TaskProof> prove_tasks(const jobs::Benchmark& benchmark, const std::vector<const jobs::Task*>& tasks,
                                   const std::function<std::string(const jobs::Task&)>& known);

}  // namespace nkigrid::cli
