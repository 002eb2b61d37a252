#include <algorithm>
#include <cmath>

#include "runner/nkisim/specials/special.hpp"

namespace nkigrid::nkisim {
namespace {

/// The eight largest, falling; NaN before everything, as poison must show.
void keep_largest(std::vector<float>& data) {
  const auto before = [](float a, float b) { return std::isnan(a) ? !std::isnan(b) : a > b; };
  std::partial_sort(data.begin(), data.begin() + 8, data.end(), before);
  data.resize(8);
}

}  // namespace

const SpecialOperation specials::max8{
    .sources = {kWholeShape},
    .destinations = {8},
    .problem = [](const SpecialUse& use) -> const char* {
      return use.values < 8 ? "max8 of fewer than 8 values" : nullptr;
    },
    .run =
        [](SpecialRows& rows) {
          for (std::int64_t p = 0; p < rows.partitions; ++p) {
            std::vector<float>& data = rows.read(0, p);
            keep_largest(data);
            rows.write(0, p, data);
          }
        },
};

}  // namespace nkigrid::nkisim
