#pragma once

#include <optional>
#include <vector>

namespace nkigrid::aggregate {

/// Of an even number of values the mean of the middle two; none of none.
std::optional<double> median(std::vector<double> values);

}  // namespace nkigrid::aggregate
