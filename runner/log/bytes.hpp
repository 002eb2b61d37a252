#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

/// Little-endian numbers in byte strings. Our machines are little endian; this line is where another one
/// would be noticed.
namespace nkigrid::log {
static_assert(std::endian::native == std::endian::little);

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

/// @pre `at` + sizeof(T) <= bytes.size()
template <class T>
T get(std::string_view bytes, std::size_t at) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

}  // namespace nkigrid::log
