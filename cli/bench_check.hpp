#pragma once

#include "jobs/base/error.hpp"
#include "jobs/benchmark.hpp"

namespace nkigrid::cli {

/// `bench check`: proves a benchmark. One line a task on stdout: its index agrees with torch, its known kernel passes
/// both rules, trivial kernels and trivial answers fail.
/// @returns 0, or 1 when any task has a fault. @throws Error{external} when the proof itself cannot run.
/// @pre no thread was started: fork servers are.
ExitCode bench_check(const jobs::Benchmark& benchmark);

}  // namespace nkigrid::cli
