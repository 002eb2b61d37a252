#include "runner/model/cost.hpp"

#include <algorithm>

namespace nkigrid::model {

double usd(const jobs::Price& price, const Usage& usage) {
  const std::uint32_t cached = std::min(usage.cached, usage.input);
  const std::uint32_t written = std::min(usage.cache_written, usage.input - cached);
  const double plain = usage.input - cached - written;
  return (plain * price.input_usd + cached * price.cache_read_usd.value_or(price.input_usd) +
          written * price.cache_write_usd.value_or(price.input_usd) + usage.output * price.output_usd) /
         1e6;
}

}  // namespace nkigrid::model
