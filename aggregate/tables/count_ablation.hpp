#pragma once

#include <vector>

#include "aggregate/tables/ablation.hpp"

namespace nkigrid::aggregate {

/// make_differences() from printed counts. @pre evidence of counts
std::vector<AblationRow> make_count_differences(const Evidence& evidence);

}  // namespace nkigrid::aggregate
