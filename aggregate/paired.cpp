#include "aggregate/paired.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <numeric>

namespace nkigrid::aggregate {

double mcnemar_exact(std::uint64_t b, std::uint64_t c) {
  if (b + c == 0) return 1;
  const boost::math::binomial_distribution<> fair(static_cast<double>(b + c), 0.5);
  return std::min(1.0, 2 * boost::math::cdf(fair, static_cast<double>(std::min(b, c))));
}

double sign_flip(const Sample& differences) {
  std::vector<std::int64_t> sizes;
  for (const auto& stratum : differences.strata) {
    for (const auto value : stratum) {
      if (value != 0) sizes.push_back(std::abs(value));
    }
  }
  const auto observed = std::abs(differences.sum());
  if (observed == 0) return 1;
  std::sort(sizes.begin(), sizes.end());  // a fixed order of additions: input order leaves no trace
  Lattice sums{0, {1.0}};
  for (std::size_t i = 0; i < sizes.size();) {
    const auto end = std::upper_bound(sizes.begin() + static_cast<std::ptrdiff_t>(i), sizes.end(), sizes[i]);
    const auto count = static_cast<std::size_t>(end - sizes.begin()) - i;
    const std::vector<std::int64_t> signs{-sizes[i], sizes[i]};
    sums = convolve(sums, power(empirical(signs), count));
    i += count;
  }
  double beyond = 0;
  for (auto point = sums.last(); point >= std::max(observed, sums.first); --point)
    beyond += sums.mass[static_cast<std::size_t>(point - sums.first)];
  // The pattern observed and its mirror count at least, even where the tail has been cut off.
  const double least = std::ldexp(1.0, 1 - static_cast<int>(sizes.size()));
  return std::min(1.0, std::max(2 * beyond, least));
}

std::vector<double> holm(std::span<const double> p, std::size_t family) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(family - rank) * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace nkigrid::aggregate
