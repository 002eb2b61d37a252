#pragma once

#include <vector>

#include "cli/bench_proof.hpp"
#include "jobs/base/error.hpp"
#include "jobs/benchmark.hpp"

namespace nkigrid::cli {

/// One line a task, then the summary; or one JSON document. @returns 0, or 1 when any task has a fault.
ExitCode report_proofs(const jobs::Benchmark& benchmark, const std::vector<TaskProof>& proofs, bool json);

}  // namespace nkigrid::cli
