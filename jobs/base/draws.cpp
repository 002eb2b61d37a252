#include "jobs/base/draws.hpp"

#include <Random123/philox.h>

namespace nkigrid {

std::uint64_t Draws::bits() noexcept {
  r123::Philox4x32 philox;
  const r123::Philox4x32::ctr_type counter = {
      {static_cast<std::uint32_t>(counter_), static_cast<std::uint32_t>(counter_ >> 32), 0, 0}};
  const r123::Philox4x32::key_type key = {{static_cast<std::uint32_t>(key_), static_cast<std::uint32_t>(key_ >> 32)}};
  ++counter_;
  const auto block = philox(counter, key);
  return std::uint64_t{block[0]} | std::uint64_t{block[1]} << 32;
}

double Draws::uniform() noexcept { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

std::uint64_t Draws::below(std::uint64_t bound) noexcept {
  // Rejection keeps it unbiased: the top partial interval is drawn again.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  for (;;) {
    const auto value = bits();
    if (value < limit) return value % bound;
  }
}

}  // namespace nkigrid
