#include "aggregate/statistics/lattice.hpp"

#include <algorithm>

#include "aggregate/statistics/limits.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr double kTail = 1e-30;  // cut from each end after a product: beyond any quantile that is asked for

void trim(Lattice& lattice) {
  auto& mass = lattice.mass;
  std::size_t begin = 0, end = mass.size();
  for (double sum = 0; begin + 1 < end && (sum += mass[begin]) < kTail;) ++begin;
  for (double sum = 0; end - 1 > begin && (sum += mass[end - 1]) < kTail;) --end;
  mass.resize(end);
  mass.erase(mass.begin(), mass.begin() + static_cast<std::ptrdiff_t>(begin));
  lattice.first += static_cast<std::int64_t>(begin);
}

}  // namespace

Lattice empirical(std::span<const std::int64_t> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  Lattice result{*low, std::vector<double>(static_cast<std::size_t>(*high - *low) + 1)};
  // Counts first, one division after: equal counts give equal masses.
  for (const auto value : values) result.mass[static_cast<std::size_t>(value - *low)] += 1;
  for (auto& mass : result.mass) mass /= static_cast<double>(values.size());
  return result;
}

Lattice convolve(const Lattice& a, const Lattice& b) {
  const auto& outer = a.mass.size() <= b.mass.size() ? a.mass : b.mass;
  const auto& inner = a.mass.size() <= b.mass.size() ? b.mass : a.mass;
  Lattice result{a.first + b.first, std::vector<double>(a.mass.size() + b.mass.size() - 1)};
  const std::size_t width = inner.size();
  for (std::size_t i = 0; i < outer.size(); ++i) {
    const double factor = outer[i];
    if (factor == 0) continue;  // unequal replicates leave most of the lattice empty
    double* const out = result.mass.data() + i;
    const double* const in = inner.data();
    for (std::size_t j = 0; j < width; ++j) out[j] += factor * in[j];
  }
  trim(result);
  return result;
}

namespace {

// The sum of two draws from one distribution: each product of two different masses stands for both orders.
Lattice squared(const Lattice& a) {
  const std::size_t width = a.mass.size();
  Lattice result{2 * a.first, std::vector<double>(2 * width - 1)};
  for (std::size_t i = 0; i < width; ++i) {
    const double factor = 2 * a.mass[i];
    if (factor == 0) continue;
    double* const out = result.mass.data() + i;
    const double* const in = a.mass.data();
    for (std::size_t j = i + 1; j < width; ++j) out[j] += factor * in[j];
    out[i] += a.mass[i] * a.mass[i];
  }
  trim(result);
  return result;
}

}  // namespace

Lattice convolution_power(const Lattice& base, std::size_t n) {
  Lattice result{0, {1.0}};
  std::size_t bit = 1;
  while (bit <= n / 2) bit *= 2;
  for (; bit > 0; bit /= 2) {  // from the highest bit: the extra factor is always the narrow base
    result = squared(result);
    if (n & bit) result = convolve(result, base);
  }
  return result;
}

Probability mid_rank(const Lattice& distribution, std::int64_t point) noexcept {
  Probability rank{0, 0};
  for (std::size_t i = 0; i < distribution.mass.size(); ++i) {
    const auto here = distribution.first + static_cast<std::int64_t>(i);
    const double mass = distribution.mass[i];
    if (here <= point) rank.below += here < point ? mass : mass / 2;
    if (here >= point) rank.above += here > point ? mass : mass / 2;
  }
  return rank;
}

std::int64_t quantile(const Lattice& distribution, Probability at) noexcept {
  const auto& mass = distribution.mass;
  if (at.below <= 0.5) {
    std::size_t i = 0;
    for (double sum = mass[0]; sum < at.below * (1 - kTie) && i + 1 < mass.size();) sum += mass[++i];
    return distribution.first + static_cast<std::int64_t>(i);
  }
  // From the top: the smallest point with at most `above` beyond it.
  std::size_t i = mass.size() - 1;
  for (double beyond = mass[i]; i > 0 && beyond <= at.above * (1 + kTie);) beyond += mass[--i];
  return distribution.first + static_cast<std::int64_t>(i);
}

}  // namespace nkigrid::aggregate
