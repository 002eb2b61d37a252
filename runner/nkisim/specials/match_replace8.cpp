#include "runner/nkisim/specials/places.hpp"
#include "runner/nkisim/specials/special.hpp"

namespace nkigrid::nkisim {

/// Attribute 0 stands where the values were; the optional second destination gets their places.
const SpecialOperation specials::match_replace8{
    .sources = {kWholeShape, 8},
    .destinations = {kWholeShape, 8},
    .attributes = 1,
    .optional_destinations = 1,
    .run =
        [](SpecialRows& rows) {
          for (std::int64_t p = 0; p < rows.partitions; ++p) {
            std::vector<float>& data = rows.read(0, p);
            const std::vector<std::int32_t> found = places_of(rows.read(1, p), data);
            for (const std::int32_t place : found) {
              if (place >= 0) data[static_cast<std::size_t>(place)] = static_cast<float>(rows.attributes[0]);
            }
            rows.write(0, p, data);
            if (rows.destinations > 1) rows.write(1, p, found);
          }
        },
};

}  // namespace nkigrid::nkisim
