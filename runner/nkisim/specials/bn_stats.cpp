#include "runner/nkisim/specials/special.hpp"

namespace nkigrid::nkisim {
namespace {

/// Count, mean and variance * count of every second value from `first` on.
void moments(const std::vector<float>& data, std::size_t first, float* out) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t j = first; j < data.size(); j += 2, ++count) sum += static_cast<double>(data[j]);
  const double mean = count > 0 ? sum / count : 0;
  for (std::size_t j = first; j < data.size(); j += 2) {
    const double d = static_cast<double>(data[j]) - mean;
    squares += d * d;
  }
  out[0] = static_cast<float>(count);
  out[1] = static_cast<float>(mean);
  out[2] = static_cast<float>(squares);
}

}  // namespace

const SpecialOperation specials::bn_stats{
    .sources = {kWholeShape},
    .destinations = {6},
    .run =
        [](SpecialRows& rows) {
          std::vector<float> out(6);
          for (std::int64_t p = 0; p < rows.partitions; ++p) {
            const std::vector<float>& data = rows.read(0, p);
            moments(data, 0, out.data());
            moments(data, 1, out.data() + 3);
            rows.write(0, p, out);
          }
        },
};

}  // namespace nkigrid::nkisim
