#pragma once

#include <string>

namespace nkigrid::aggregate {

/// Two ends, and the method that they were found by.
struct Interval {
  /// wilson, wilson-eff, bonett-price (+test: an end was moved to say what the test says), clopper-pearson; from counts
  /// newcombe, mover-r; bca-drawn, checkpoint-t, run-to-run
  std::string method;
  double low = 0, high = 0;
};

/// Two ends alone.
struct Range {
  double low = 0, high = 0;
};

}  // namespace nkigrid::aggregate
