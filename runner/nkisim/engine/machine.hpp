#pragma once

#include <cstdint>
#include <vector>

#include "runner/nkisim/engine/rows.hpp"
#include "runner/nkisim/engine/space.hpp"
#include "runner/nkisim/engine/storage.hpp"
#include "runner/nkisim/engine/trip_order.hpp"

/// The state of a run. Internal to the room.
namespace nkigrid::nkisim {

/// Where a row of a view lies: element j of the span begun at lo is at `at + j * stride`.
struct RowAt {
  std::byte* at = nullptr;
  std::int64_t stride = 0;
  Tile* tile = nullptr;
  std::int64_t offset = 0;  ///< of `at` in the tile [bytes]
  std::uint64_t block = 0;  ///< the tile's number in its buffer
};

class Observer;

/// All that changes while a program runs.
class Machine {
 public:
  /// @param memory_bytes of touched on-chip and private HBM storage, at most
  Machine(const Program& program, const Poison& poison, std::uint64_t memory_bytes);

  std::vector<std::int64_t> atoms;   ///< by atom id
  std::vector<std::int64_t> trips;   ///< by dense loop number
  std::vector<Storage> storages;     ///< by root buffer id
  std::vector<std::int64_t> values;  ///< form values of the running operation
  std::uint32_t line = 0;
  std::uint64_t budget = 0;
  const Program& program;
  const Poison poison;
  const RowKernels& rows;
  Observer* observer = nullptr;  ///< of a diagnosing run; null in others
  TripOrder order;

  /// Addresses of a view's row [lo, hi) on `axis`. @returns false when an out-of-bounds point is to be skipped. @throws
  /// Fault{oob}
  bool resolve(const Space& space, const View& view, std::size_t axis, std::int64_t lo, std::int64_t hi, RowAt& out);
  /// Row buffer k, kChunk values of four bytes.
  template <class T>
  T* buffer(std::size_t k) {
    return reinterpret_cast<T*>(scratch_.data()) + k * kChunk;
  }
  /// Keeps the written-bitmap of elements stored at `offset`, `stride` bytes apart.
  void mark(std::uint32_t root, Tile& tile, std::int64_t offset, std::int64_t stride, std::int64_t item,
            std::size_t n) {
    tile.filled = true;
    if (!tile.written.empty()) mark_written(root, tile, offset, stride, item, n);
  }
  /// As mark(), but the write does not count as a fill (looped accumulation).
  void mark_written(std::uint32_t root, Tile& tile, std::int64_t offset, std::int64_t stride, std::int64_t item,
                    std::size_t n);
  /// Shows the observer, if there is one, that n elements of a row are about to be read.
  void note_read(const View& view, const RowAt& row, std::size_t n) {
    if (observer != nullptr && !row.tile->written.empty()) tell_observer(view, row, n);
  }
  /// Charges memory that a deferred operation holds. @throws Fault{capacity}
  void check_memory(std::uint64_t bytes) const;

 private:
  void tell_observer(const View& view, const RowAt& row, std::size_t n);
  [[noreturn]] void out_of_bounds(const View& view, const View::Check& check, std::int64_t index) const;
  AlignedMemory scratch_;
};

/// Asks for the next row of a view while this one is worked on, where that helps: rows of a tile in HBM lie far apart,
/// in an order that no processor foresees. Tiles on chip are in its cache, long rows it foresees.
/// @param axis the one that moves to the next row @param length elements of a row
inline void fetch_next(const Machine& machine, const Space& space, const View& view, const RowAt& row, std::size_t axis,
                       std::int64_t length) {
  constexpr std::int64_t kLine = 64, kShort = 256, kLong = 4096;
  const std::int64_t bytes = length * view.item;
  const bool helps = row.stride == view.item && bytes >= kShort && bytes <= kLong;
  if (!helps || is_on_chip(machine.program.buffers[view.root].kind)) return;
  const std::byte* next = row.at + space.step(view.offset, axis);
  for (std::int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(next + at);
}

inline constexpr std::size_t kRowBuffers = kMaxSources + kMaxSteps + 4;
inline constexpr std::size_t kStoreBuffer = kMaxSources + kMaxSteps;  ///< for a broadcast result
inline constexpr std::size_t kOldBuffer = kStoreBuffer + 1;           ///< for the old value of an accumulation

}  // namespace nkigrid::nkisim
