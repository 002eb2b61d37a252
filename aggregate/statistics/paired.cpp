#include "aggregate/statistics/paired.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <numeric>

#include "aggregate/statistics/characteristic.hpp"

namespace nkigrid::aggregate {

double mcnemar(std::uint64_t b, std::uint64_t c, PValue kind) {
  if (b + c == 0) return 1;
  const boost::math::binomial_distribution<> fair(static_cast<double>(b + c), 0.5);
  if (b == c) return kind == PValue::exact ? 1 : 1 - boost::math::pdf(fair, static_cast<double>(b)) / 2;
  const auto fewer = static_cast<double>(std::min(b, c));
  const double exact = 2 * boost::math::cdf(fair, fewer);
  return std::min(1.0, kind == PValue::exact ? exact : exact - boost::math::pdf(fair, fewer));
}

Range mcnemar_bounds(std::uint64_t a, std::uint64_t b, std::uint64_t n) {
  const std::uint64_t more = a > b ? a - b : b - a, most_lost = std::min(std::min(a, b), n - std::max(a, b));
  return {mcnemar(more, 0, PValue::exact), mcnemar(more + most_lost, most_lost, PValue::exact)};
}

namespace {

constexpr double kMaxAdditions = 1e9;  // about 0.3 s

/// P(sum of the sizes whose coin falls heads > point), and >= point.
struct Beyond {
  double past = 0, reached = 0;
};

// Coin by coin: non-negative terms only, so small tails keep their relative accuracy.
Beyond heads_beyond(const std::vector<std::int64_t>& sizes, std::int64_t total, std::int64_t point) {
  std::vector<double> mass(static_cast<std::size_t>(total) + 1);
  mass[0] = 1;
  std::size_t last = 0;
  std::vector<double> before;
  for (const auto size : sizes) {
    const auto step = static_cast<std::size_t>(size);
    before.assign(mass.begin(), mass.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    for (std::size_t i = 0; i <= last; ++i) mass[i] *= 0.5;
    double* const shifted = mass.data() + step;
    for (std::size_t i = 0; i <= last; ++i) shifted[i] += 0.5 * before[i];
    last += step;
  }
  double past = 0;
  for (auto i = total; i > point; --i) past += mass[static_cast<std::size_t>(i)];
  return {past, past + mass[static_cast<std::size_t>(point)]};
}

// The same through its characteristic function, where coin by coin would take seconds; good to 1e-14,
// absolutely.
Beyond heads_beyond_by_frequencies(const std::vector<std::int64_t>& sizes, std::int64_t point) {
  std::vector<Summand> summands;
  for (const auto size : sizes) {
    if (!summands.empty() && summands.back().values.back() == size)
      ++summands.back().n;
    else
      summands.push_back({{0, size}, {0.5, 0.5}, 1});
  }
  const CharacteristicSum sum(summands);
  return {1 - sum.cumulated_at(point), 1 - sum.cumulated_at(point - 1)};
}

}  // namespace

double sign_flip(const Sample& differences, PValue kind) {
  std::vector<std::int64_t> sizes;
  std::int64_t step = 0, total = 0;
  for (const auto& stratum : differences.strata) {
    for (const auto value : stratum) {
      if (value != 0) sizes.push_back(std::abs(value));
      step = std::gcd(step, value);
    }
  }
  if (sizes.empty()) return 1;
  const auto observed = std::abs(differences.sum());
  if (observed == 0 && kind == PValue::exact) return 1;
  std::sort(sizes.begin(), sizes.end());  // a fixed order of additions: input order leaves no trace
  for (auto& size : sizes) total += size /= step;
  // The signed sum reaches the observed one when the positive part reaches (total + observed)/2.
  const auto point = (total + observed / step) / 2;
  const double additions = static_cast<double>(sizes.size()) * static_cast<double>(total) / 2;
  const auto [past, reached] =
      additions <= kMaxAdditions ? heads_beyond(sizes, total, point) : heads_beyond_by_frequencies(sizes, point);
  if (observed == 0) return 1 - (reached - past) / 2;  // a sum of 0 has no mirror: half of it once
  // The pattern observed and its mirror count at least, even where the tail has been lost.
  const double least = std::ldexp(1.0, (kind == PValue::exact ? 1 : 0) - static_cast<int>(sizes.size()));
  return std::min(1.0, std::max(kind == PValue::exact ? 2 * reached : past + reached, least));
}

}  // namespace nkigrid::aggregate
