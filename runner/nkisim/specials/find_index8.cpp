#include "runner/nkisim/specials/places.hpp"
#include "runner/nkisim/specials/special.hpp"

namespace nkigrid::nkisim {

const SpecialOperation specials::find_index8{
    .sources = {kWholeShape, 8},
    .destinations = {8},
    .run =
        [](SpecialRows& rows) {
          for (std::int64_t p = 0; p < rows.partitions; ++p) {
            const std::vector<float>& data = rows.read(0, p);
            rows.write(0, p, places_of(rows.read(1, p), data));
          }
        },
};

}  // namespace nkigrid::nkisim
