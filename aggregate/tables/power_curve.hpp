#pragma once

#include "aggregate/evidence/evidence.hpp"
#include "aggregate/layout/sheet.hpp"

namespace nkigrid::aggregate {

/// What the first comparison of `pairs` could show with other numbers of tasks and replicates: columns tasks,
/// replicates, smallest (a difference, by the normal approximation at 80 % power and two-sided 5 %). Variances are
/// those that it measured; where it measured none, or of printed counts, those that `plan` assumes.
/// @source Miller 2024, arXiv 2411.00640, section 5
Sheet power_curve(const Evidence& evidence);

}  // namespace nkigrid::aggregate
