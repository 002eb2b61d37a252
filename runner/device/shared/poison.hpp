#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "runner/device/values.hpp"

namespace nkigrid::device {

/// What the memory of an output holds before anything is written to it. {size} [B]
inline std::vector<std::byte> poisoned(std::string_view dtype, std::size_t size, const Poison& poison) {
  std::vector<std::byte> bytes(size, std::byte{poison.int_byte});
  if (dtype != "float32") return bytes;
  for (std::size_t at = 0; at + sizeof poison.nan_bits <= size; at += sizeof poison.nan_bits)
    std::memcpy(bytes.data() + at, &poison.nan_bits, sizeof poison.nan_bits);
  return bytes;
}

/// Elements of 4 bytes that hold the poison still. 0 for uint8, where one byte alone proves nothing.
inline std::uint64_t count_poison(std::string_view dtype, std::span<const std::byte> bytes, const Poison& poison) {
  if (dtype == "uint8") return 0;
  std::uint32_t pattern = poison.nan_bits;
  if (dtype != "float32") std::memset(&pattern, poison.int_byte, sizeof pattern);
  std::uint64_t count = 0;
  for (std::size_t at = 0; at + sizeof pattern <= bytes.size(); at += sizeof pattern) {
    if (std::memcmp(bytes.data() + at, &pattern, sizeof pattern) == 0) ++count;
  }
  return count;
}

}  // namespace nkigrid::device
