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

/// One line a task, then the summary; or one JSON document. @returns 0, or 1 when any task has a fault.
ExitCode report_proofs(const jobs::Benchmark& benchmark, const std::vector<TaskProof>& proofs, bool json);

/// Those of the tasks that are not as they were at a revision of the git tree that holds the benchmark's folder: task,
/// known kernel or index entry differs, or is new. @throws Error{usage} when there is no such tree or revision
std::vector<const jobs::Task*> changed_since(const std::string& revision, const jobs::Benchmark& benchmark,
                                             const std::vector<const jobs::Task*>& tasks);

}  // namespace nkigrid::cli
