#include "aggregate/statistics/adjustment.hpp"

#include <algorithm>
#include <numeric>

namespace nkigrid::aggregate {
namespace {

std::vector<std::size_t> ascending(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return p[i] < p[j]; });
  return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p, std::size_t family) {
  const auto order = ascending(p);
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(family - rank) * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg(std::span<const double> p, std::size_t family) {
  const auto order = ascending(p);
  std::vector<double> adjusted(p.size());
  double smallest = 1;
  for (std::size_t rank = order.size(); rank-- > 0;) {
    smallest = std::min(smallest, static_cast<double>(family) / static_cast<double>(rank + 1) * p[order[rank]]);
    adjusted[order[rank]] = smallest;
  }
  return adjusted;
}

}  // namespace nkigrid::aggregate
