#pragma once

#include <string>
#include <vector>

#include "aggregate/evidence/population.hpp"
#include "aggregate/statistics/power_forecast.hpp"
#include "jobs/plan.hpp"

namespace nkigrid::aggregate {

/// What one comparison of a grid can show, before it is run: the table of `plan`.
struct PowerRow : PowerForecast {
  std::string contrast, a, b;
  std::string basis;  ///< pilot; pilot-total (one replicate: split as the prior says); prior
};

/// One row for each two cells that the grid's contrasts compare, over all shared tasks. Variances come from
/// the pilot's cells of the same ids, else from the mean over those of its comparisons that could be
/// measured, else from the prior. Two cells that never differ measure nothing.
std::vector<PowerRow> plan_power(const jobs::Grid& grid, const jobs::Plan& plan, const ReadRun* pilot,
                                 const PowerOptions& options = {});

}  // namespace nkigrid::aggregate
