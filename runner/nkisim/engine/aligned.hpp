#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace nkigrid::nkisim {

/// Memory that begins at a multiple of a cache line. glibc's aligned_alloc() asks for more than it gives, so what it
/// gave once never fits the same size again: each run of a program would work on fresh pages. malloc()'s fits.
class AlignedMemory {
 public:
  static constexpr std::size_t kAlignment = 64;

  explicit AlignedMemory(std::size_t size) : raw_(std::malloc(size + kAlignment)) {}
  /// Null where there was no memory.
  std::byte* data() const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(raw_.get());
    return reinterpret_cast<std::byte*>((at + kAlignment - 1) / kAlignment * kAlignment);
  }

 private:
  struct Free {
    void operator()(void* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<void, Free> raw_;
};

}  // namespace nkigrid::nkisim
