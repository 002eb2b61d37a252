#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nkigrid::aggregate {

/// A probability distribution on the integers first, first + 1, ...
///
/// Masses are sums of products of non-negative numbers, never differences, so a tail probability keeps a
/// relative accuracy of about 1e-12 down to 1e-18; tails of less than 1e-30 are cut off at each product.
struct Lattice {
  std::int64_t first = 0;
  std::vector<double> mass;

  std::int64_t last() const noexcept { return first + static_cast<std::int64_t>(mass.size()) - 1; }
};

/// A probability with its complement, both to full relative accuracy: 1 - 1e-20 is a number only in the
/// second form.
struct Probability {
  double below = 0, above = 1;
};

/// Values with equal weight 1/n. @pre values is not empty.
Lattice empirical(std::span<const std::int64_t> values);

/// The distribution of a sum of two independent draws.
Lattice convolve(const Lattice& a, const Lattice& b);

/// The distribution of a sum of n independent draws from `base` (binary powering). @pre n >= 1
Lattice convolution_power(const Lattice& base, std::size_t n);

/// P(X < point) + P(X = point)/2, with its complement; the part below and the part above are summed apart.
Probability mid_rank(const Lattice& distribution, std::int64_t point) noexcept;

/// The smallest point whose cumulated probability reaches `at`; a tie within 1e-12 counts as reached.
std::int64_t quantile(const Lattice& distribution, Probability at) noexcept;

}  // namespace nkigrid::aggregate
