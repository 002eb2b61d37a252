#pragma once

#include "aggregate/statistics/bootstrap.hpp"

namespace nkigrid::test {

/// The bootstrap's percentile ends, which the reference has and no table prints: the lattice points at (1 -
/// confidence)/2 and (1 + confidence)/2. @source Efron & Tibshirani 1993, ch. 13
inline aggregate::Range percentile_ends(const aggregate::Sample& sample, double confidence) {
  const auto sums = aggregate::resampled_sum(sample);
  const double tail = (1 - confidence) / 2,
               unit = static_cast<double>(sample.denominator) * static_cast<double>(sample.tasks());
  return {static_cast<double>(aggregate::quantile(sums, {tail, 1 - tail})) / unit,
          static_cast<double>(aggregate::quantile(sums, {1 - tail, tail})) / unit};
}

}  // namespace nkigrid::test
