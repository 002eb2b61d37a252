#pragma once

#include "aggregate/evidence/evidence.hpp"
#include "aggregate/layout/sheet.hpp"

namespace nkigrid::aggregate {

/// How far the passing kernels of each cell and task are from what the hardware allows: columns cell, level, task,
/// roofline_us (what the benchmark says of the task), kernels (passing ones with an estimate), median_us of their
/// estimates. Tasks of which no roofline is known, or no kernel estimated, have no row. @pre evidence of a run
Sheet rooflines(const Evidence& evidence);

}  // namespace nkigrid::aggregate
