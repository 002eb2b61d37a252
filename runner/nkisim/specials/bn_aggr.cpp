#include "runner/nkisim/specials/special.hpp"

namespace nkigrid::nkisim {
namespace {

/// Mean and variance of all, from groups of count, mean and variance * count.
std::vector<float> joined(const std::vector<float>& groups) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t g = 0; g + 2 < groups.size(); g += 3) {
    count += static_cast<double>(groups[g]);
    sum += static_cast<double>(groups[g]) * static_cast<double>(groups[g + 1]);
  }
  const double mean = sum / count;
  for (std::size_t g = 0; g + 2 < groups.size(); g += 3) {
    const double d = static_cast<double>(groups[g + 1]) - mean;
    squares += static_cast<double>(groups[g + 2]) + static_cast<double>(groups[g]) * d * d;
  }
  return {static_cast<float>(mean), static_cast<float>(squares / count)};
}

}  // namespace

const SpecialOperation specials::bn_aggr{
    .sources = {kWholeShape},
    .destinations = {2},
    .problem = [](const SpecialUse& use) -> const char* {
      return use.values % 3 != 0 ? "bn_aggr of a number of values that is no multiple of 3" : nullptr;
    },
    .run =
        [](SpecialRows& rows) {
          for (std::int64_t p = 0; p < rows.partitions; ++p) rows.write(0, p, joined(rows.read(0, p)));
        },
};

}  // namespace nkigrid::nkisim
