#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runner/nkisim/numbers/numbers.hpp"

namespace nkigrid::nkisim {

/// Poison patterns: outputs and undefined memory start as `nan_bits` in float buffers of 4 bytes (its high half in
/// 2-byte ones) and as `int_byte` in integers. Two different poisons must give the same output bytes.
struct Poison {
  std::uint32_t nan_bits = 0x7fc0dead;
  std::uint8_t int_byte = 0xa5;
};

/// Writes poison of a dtype over bytes, which are whole and aligned elements.
void fill_poison(Dtype dtype, std::span<std::byte> bytes, const Poison& poison) noexcept;

}  // namespace nkigrid::nkisim
