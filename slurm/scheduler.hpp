#pragma once

#include <memory>

#include "jobs/scheduler.hpp"

namespace nkigrid::slurm {

/// Slurm behind the port that the command line asks. Connects at the first question.
std::unique_ptr<jobs::Scheduler> make_scheduler();

/// Knows the allocation by SLURM_* of the environment and by the controller.
std::unique_ptr<jobs::Allocation> make_allocation();

}  // namespace nkigrid::slurm
