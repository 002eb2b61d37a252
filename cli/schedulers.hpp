#pragma once

#include <memory>

#include "jobs/scheduler.hpp"

namespace nkigrid::cli {

/// The batch system of this site: the one that NKIGRID_SCHEDULER names, else the first of the list. Asks nobody.
/// @throws Error{usage} for a name that is not listed
std::unique_ptr<jobs::Scheduler> site_scheduler();

/// What this process can know of its batch job, from the same batch system.
std::unique_ptr<jobs::Allocation> site_allocation();

}  // namespace nkigrid::cli
