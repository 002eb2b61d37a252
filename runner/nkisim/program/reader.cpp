#include "runner/nkisim/program/reader.hpp"

#include <bit>

#include <fmt/format.h>

#include "jobs/base/error.hpp"

namespace nkigrid::nkisim {

void ByteReader::fail(std::string_view what) const {
  throw Error(ErrorCode::corrupt, fmt::format("program is corrupt at byte {}: {}", at_, what));
}

std::uint8_t ByteReader::u8_below(int bound, std::string_view what) {
  const std::uint8_t value = u8();
  if (value >= bound) fail(fmt::format("{} {} (legal: 0 to {})", what, value, bound - 1));
  return value;
}

std::uint64_t ByteReader::u() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    const std::uint64_t byte = u8();
    if (shift == 63 && byte > 1) fail("an integer does not fit 64 bits");
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (byte == 0 && shift > 0) fail("an integer is not in its shortest form");
      return value;
    }
  }
  fail("an integer is longer than 10 bytes");
}

std::int64_t ByteReader::i() {
  const std::uint64_t value = u();
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

std::uint64_t ByteReader::u_at_most(std::uint64_t most, std::string_view what) {
  const std::uint64_t value = u();
  if (value > most) fail(fmt::format("{} {} (at most {})", what, value, most));
  return value;
}

std::size_t ByteReader::count(std::size_t most, std::string_view what) {
  const std::uint64_t value = u_at_most(most, what);
  if (value > bytes_.size() - at_) fail(fmt::format("{} {} is more than the bytes that are left", what, value));
  return value;
}

double ByteReader::f64() {
  if (bytes_.size() - at_ < 8) fail("it ends too early");
  std::uint64_t bits = 0;
  for (int k = 0; k < 8; ++k) bits |= static_cast<std::uint64_t>(u8()) << (8 * k);
  return std::bit_cast<double>(bits);
}

std::string ByteReader::blob(std::size_t most, std::string_view what) {
  const std::size_t size = count(most, what);
  std::string data(bytes_.substr(at_, size));
  at_ += size;
  return data;
}

}  // namespace nkigrid::nkisim
