#include "runner/nkisim/engine/storage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "runner/nkisim/engine/rows.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::uint64_t kFewBlocks = 256;
constexpr std::size_t kAlignment = 64;
constexpr std::uint64_t kTileOverhead = 128;  ///< of the bookkeeping [bytes]

template <class T>
void fill_with(std::span<std::byte> bytes, T value) {
  T* p = reinterpret_cast<T*>(bytes.data());
  std::fill(p, p + bytes.size() / sizeof(T), value);
}

std::uint64_t low_mask(std::uint64_t count) { return count >= 64 ? ~0ULL : (1ULL << count) - 1; }

/// Calls f(word, mask) for each word that the bits [first, first + count) touch.
template <class F>
void each_word(std::uint64_t first, std::uint64_t count, F f) {
  while (count > 0) {
    const std::uint64_t at = first % 64, here = std::min<std::uint64_t>(count, 64 - at);
    f(first / 64, low_mask(here) << at);
    first += here;
    count -= here;
  }
}

void free_bytes(std::byte* p) { std::free(p); }

/// The value of an alloc, cast to the dtype once and then repeated.
void fill_value(Dtype dtype, std::span<std::byte> bytes, double fill, const Poison& poison) {
  std::byte pattern[4];
  if (is_float(dtype)) {
    const auto value = static_cast<float>(fill);
    row_kernels().store_f32(dtype, pattern, 0, 1, &value, poison.int_byte);
  } else {
    const std::int32_t value = integer_of(fill);
    row_kernels().store_i32(dtype, pattern, 0, 1, &value);
  }
  if (size_of(dtype) == 1) {
    std::memset(bytes.data(), static_cast<int>(pattern[0]), bytes.size());
  } else if (size_of(dtype) == 2) {
    fill_with(bytes, std::bit_cast<std::uint16_t>(std::to_array({pattern[0], pattern[1]})));
  } else {
    fill_with(bytes, std::bit_cast<std::uint32_t>(pattern));
  }
}

}  // namespace

void set_bits(std::vector<std::uint64_t>& bits, std::uint64_t first, std::uint64_t count) noexcept {
  each_word(first, count, [&](std::uint64_t word, std::uint64_t mask) { bits[word] |= mask; });
}

std::uint64_t count_bits(const std::vector<std::uint64_t>& bits, std::uint64_t first, std::uint64_t count) noexcept {
  std::uint64_t total = 0;
  each_word(first, count, [&](std::uint64_t word, std::uint64_t mask) {
    const std::uint64_t set = bits[word] & mask;
    total += set == ~0ULL ? 64 : static_cast<std::uint64_t>(std::popcount(set));  // a call, where all may be written
  });
  return total;
}

std::int32_t integer_of(double value) noexcept {
  const double whole = value == value ? std::clamp(std::nearbyint(value), -2147483648.0, 4294967295.0) : 0.0;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(whole)));
}

void Storage::prepare() { few_.resize(std::min(blocks, kFewBlocks)); }

void Storage::allocate(std::optional<double> fill, bool covered) noexcept {
  ++generation_;
  fill_ = fill;
  covered_ = covered;
}

void Storage::adopt(std::byte* data, bool track, std::uint64_t* budget) {
  few_.resize(1);
  few_[0].data = data;
  few_[0].generation = generation_;
  if (!track) return;
  const std::uint64_t words = (tile_bytes / granule + 63) / 64;
  if (*budget < words * 8) throw Fault{Code::capacity, "the kernel's buffers need more memory than the limit allows"};
  *budget -= words * 8;
  few_[0].written.assign(words, 0);
}

void Storage::release() {
  for (const std::uint64_t block : touched_) {
    if (block >= few_.size()) {
      const auto far = many_.find(block);
      free_.push_back(far->second.data);
      many_.erase(far);
      continue;
    }
    Tile& tile = few_[block];
    free_.push_back(tile.data);
    tile.data = nullptr;
    tile.generation = 0;
  }
  touched_.clear();
}

/// The first touch of a block since its buffer's alloc: finds memory for it where it has none, then gives it the value
/// that the alloc promised. Memory that a dead block gave back comes first; it holds old values, as a chip's would.
void Storage::renew(Tile& tile, std::uint64_t block, const Poison& poison, std::uint64_t* budget) {
  const std::uint64_t words = granule == 0 ? 0 : (tile_bytes / granule + 63) / 64;
  if (tile.data == nullptr) {
    if (free_.empty()) take_memory(words, budget);
    tile.data = free_.back();
    free_.pop_back();
    touched_.push_back(block);
  }
  tile.generation = generation_;
  tile.filled = fill_.has_value();
  const std::span<std::byte> bytes(tile.data, tile_bytes);
  if (fill_) {
    fill_value(dtype, bytes, *fill_, poison);
  } else if (!covered_) {
    fill_poison(dtype, bytes, zeroed ? Poison{0, 0} : poison);
  }
  if (words > 0) tile.written.assign(words, fill_ ? ~0ULL : 0ULL);
}

/// A further tile's memory, into free_.
void Storage::take_memory(std::uint64_t words, std::uint64_t* budget) {
  const std::uint64_t size = (tile_bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::uint64_t cost = size + words * 8 + kTileOverhead;
  if (*budget < cost) {
    throw Fault{Code::capacity,
                fmt::format("the kernel touches more on-chip and private HBM memory than the limit allows "
                            "(a further {} bytes)",
                            cost)};
  }
  *budget -= cost;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
  if (data == nullptr) throw Fault{Code::capacity, fmt::format("no memory for {} bytes", size)};
  owned_.emplace_back(data, free_bytes);
  free_.push_back(data);
}

}  // namespace nkigrid::nkisim
