#include "runner/nkisim/specials/places.hpp"

#include <algorithm>

namespace nkigrid::nkisim {

std::vector<std::int32_t> places_of(const std::vector<float>& values, const std::vector<float>& data) {
  std::vector<std::int32_t> out(values.size(), -1);
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (std::size_t j = 0; j < data.size(); ++j) {
      const auto place = static_cast<std::int32_t>(j);
      if (data[j] != values[k] || std::find(out.begin(), out.end(), place) != out.end()) continue;
      out[k] = place;
      break;
    }
  }
  return out;
}

}  // namespace nkigrid::nkisim
