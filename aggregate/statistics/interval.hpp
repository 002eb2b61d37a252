#pragma once

#include <string>

namespace nkigrid::aggregate {

/// Two ends, and the method that they were found by.
struct Interval {
  std::string method;  ///< wilson, bca, newcombe, clopper-pearson; bca-drawn, mover-r, checkpoint-t, run-to-run
  double low = 0, high = 0;
};

/// Two ends alone.
struct Range {
  double low = 0, high = 0;
};

}  // namespace nkigrid::aggregate
