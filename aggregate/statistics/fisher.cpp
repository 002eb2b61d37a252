#include "aggregate/statistics/fisher.hpp"

#include <algorithm>
#include <boost/math/distributions/hypergeometric.hpp>

namespace nkigrid::aggregate {

double fisher_exact(std::uint64_t a, std::uint64_t n_a, std::uint64_t b, std::uint64_t n_b) {
  const std::uint64_t passed = a + b;
  const boost::math::hypergeometric_distribution<> table(passed, n_a, n_a + n_b);
  const double observed = boost::math::pdf(table, a);
  double p = 0;
  for (std::uint64_t k = passed > n_b ? passed - n_b : 0; k <= std::min(passed, n_a); ++k) {
    const double mass = boost::math::pdf(table, k);
    if (mass <= observed * (1 + 1e-7)) p += mass;  // as likely, but for rounding
  }
  return std::min(1.0, p);
}

}  // namespace nkigrid::aggregate
