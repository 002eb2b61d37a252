#include "aggregate/statistics/normal.hpp"

#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

namespace nkigrid::aggregate {

Probability normal_cdf(double z) noexcept {
  return {std::erfc(-z / std::numbers::sqrt2) / 2, std::erfc(z / std::numbers::sqrt2) / 2};
}

double normal_quantile(Probability p) {
  if (p.below <= p.above) return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p.below);
  return std::numbers::sqrt2 * boost::math::erfc_inv(2 * p.above);
}

double critical_value(double confidence) { return normal_quantile({(1 + confidence) / 2, (1 - confidence) / 2}); }

}  // namespace nkigrid::aggregate
