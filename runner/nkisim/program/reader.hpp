#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nkigrid::nkisim {

/// Takes the primitives of a program off hostile bytes; every count is capped before anything is reserved. All @throws
/// Error{corrupt} that names the byte. Internal to the room.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  [[noreturn]] void fail(std::string_view what) const;
  bool at_end() const { return at_ == bytes_.size(); }

  std::uint8_t u8() {
    if (at_end()) fail("it ends too early");
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint8_t u8_below(int bound, std::string_view what);
  std::uint64_t u();
  std::int64_t i();
  std::uint64_t u_at_most(std::uint64_t most, std::string_view what);
  std::uint32_t u32(std::string_view what) { return static_cast<std::uint32_t>(u_at_most(0xffffffffU, what)); }
  std::int64_t natural(std::string_view what) { return static_cast<std::int64_t>(u_at_most(INT64_MAX, what)); }
  /// A count of items of at least one byte each.
  std::size_t count(std::size_t most, std::string_view what);
  double f64();
  std::string blob(std::size_t most, std::string_view what);

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace nkigrid::nkisim
