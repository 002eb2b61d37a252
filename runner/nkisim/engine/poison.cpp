#include "runner/nkisim/engine/poison.hpp"

#include <algorithm>
#include <cstring>

namespace nkigrid::nkisim {
namespace {

template <class T>
void repeat_value(std::span<std::byte> bytes, T value) {
  std::fill_n(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T), value);
}

}  // namespace

void fill_poison(Dtype dtype, std::span<std::byte> bytes, const Poison& poison) noexcept {
  if (!is_float(dtype) || poison.nan_bits == 0) {
    std::memset(bytes.data(), poison.int_byte, bytes.size());
  } else if (size_of(dtype) == 4) {
    repeat_value(bytes, poison.nan_bits);
  } else if (size_of(dtype) == 2) {
    repeat_value(bytes, static_cast<std::uint16_t>(poison.nan_bits >> 16));
  } else {
    std::memset(bytes.data(), static_cast<int>(poison.nan_bits >> 24) | 0x7f, bytes.size());
  }
}

}  // namespace nkigrid::nkisim
