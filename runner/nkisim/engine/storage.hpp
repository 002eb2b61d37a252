#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "jobs/base/outcome.hpp"
#include "runner/nkisim/engine/aligned.hpp"
#include "runner/nkisim/engine/poison.hpp"
#include "runner/nkisim/program/program.hpp"

/// Where buffers live while a program runs. Internal to the room.
namespace nkigrid::nkisim {

/// Ends a run; becomes the RunReport.
struct Fault {
  Code code = Code::runtime_device;
  std::string message;
};

/// The bytes under one block index of a buffer, made when first touched.
struct Tile {
  std::byte* data = nullptr;
  std::uint64_t generation = 0;        ///< the alloc that filled or poisoned it; 0: none yet
  bool filled = false;                 ///< an alloc with a value or a plain write, since the alloc (loop_reduce)
  std::vector<std::uint64_t> written;  ///< a bit a granule; empty: not tracked
};

/// Marks or asks bits of a written-bitmap.
void set_bits(std::vector<std::uint64_t>& bits, std::uint64_t first, std::uint64_t count) noexcept;
std::uint64_t count_bits(const std::vector<std::uint64_t>& bits, std::uint64_t first, std::uint64_t count) noexcept;
inline bool test_bit(const std::vector<std::uint64_t>& bits, std::uint64_t at) noexcept {
  return (bits[at / 64] >> (at % 64)) & 1U;
}

/// One root buffer.
class Storage {
 public:
  std::uint64_t tile_bytes = 0;
  std::uint64_t blocks = 1;
  Dtype dtype = Dtype::float32;
  std::uint32_t granule = 0;  ///< bytes a written-bit stands for; 0: not tracked
  bool zeroed = false;        ///< undefined memory is zero in place of poison: does anything depend on it?

  /// Fresh memory: undefined, or filled. `covered`: the next write covers every byte, so no poison is needed.
  void allocate(std::optional<double> fill, bool covered) noexcept;
  /// Memory of the caller (parameters, constants, outputs).
  void adopt(std::byte* data, bool track, std::uint64_t* budget);
  /// What adopt() made; null before it.
  const Tile* adopted() const { return few_.empty() ? nullptr : few_.data(); }
  /// @throws Fault{capacity} beyond the memory limit.
  Tile& touch(std::uint64_t block, const Poison& poison, std::uint64_t* budget) {
    Tile* tile = block < few_.size() ? &few_[block] : &far_tile(block);
    if (tile->generation != generation_) renew(*tile, block, poison, budget);
    return *tile;
  }
  void prepare();
  /// What the blocks hold is never looked at again: their memory serves the next ones to be touched.
  void release();

 private:
  Tile& far_tile(std::uint64_t block) { return many_[block]; }
  void renew(Tile& tile, std::uint64_t block, const Poison& poison, std::uint64_t* budget);
  void take_memory(std::uint64_t words, std::uint64_t* budget);

  std::uint64_t generation_ = 1;
  std::optional<double> fill_;
  bool covered_ = false;
  std::vector<Tile> few_;  // the first blocks, without a hash
  std::unordered_map<std::uint64_t, Tile> many_;
  std::vector<AlignedMemory> owned_;
  std::vector<std::uint64_t> touched_;  // blocks that hold memory of owned_
  std::vector<std::byte*> free_;        // memory of owned_ that no block holds
};

/// A constant of a program in integer memory or work: to nearest even, within -2^31 to 2^32 - 1, as 32 bits; NaN is 0.
std::int32_t integer_of(double value) noexcept;

}  // namespace nkigrid::nkisim
