#include <algorithm>
#include <cmath>

#include "runner/nkisim/specials/special.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::int64_t kQuadrant = 32;  ///< partitions that exchange rows
constexpr double kLeave = 255;          ///< the mask's entry for a row that stays as it is

}  // namespace

/// Attributes: the mask, for each partition of a quadrant the one whose row it gets.
const SpecialOperation specials::stream_shuffle{
    .sources = {kWholeShape},
    .destinations = {kWholeShape},
    .attributes = kQuadrant,
    .problem = [](const SpecialUse& use) -> const char* {
      const bool legal = std::all_of(use.attributes.begin(), use.attributes.end(), [](double entry) {
        return entry == kLeave || (entry >= 0 && entry < kQuadrant && entry == std::floor(entry));
      });
      return use.partitions % kQuadrant != 0 || !legal ? "stream_shuffle with a wrong mask or number of partitions"
                                                       : nullptr;
    },
    .run =
        [](SpecialRows& rows) {
          // All partitions are read before any is written: source and destination may be one tile.
          std::vector<std::vector<float>> all;
          for (std::int64_t p = 0; p < rows.partitions; ++p) all.push_back(rows.read(0, p));
          for (std::int64_t p = 0; p < rows.partitions; ++p) {
            const double from = rows.attributes[static_cast<std::size_t>(p % kQuadrant)];
            const std::int64_t first = p / kQuadrant * kQuadrant;
            if (from != kLeave)
              rows.write(0, p, all[static_cast<std::size_t>(first + static_cast<std::int64_t>(from))]);
          }
        },
};

}  // namespace nkigrid::nkisim
