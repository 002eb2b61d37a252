#pragma once

#include <cstddef>
#include <cstdint>

#include "runner/nkisim/engine/storage.hpp"
#include "runner/nkisim/numbers/numbers.hpp"

/// What a run shows of itself to whoever looks for a kernel's faults (diagnose/watch.hpp). Internal to the room.
namespace nkigrid::nkisim {

/// A row that is about to be read.
struct RowRead {
  std::uint32_t buffer = 0, root = 0, line = 0;
  std::int64_t item = 4, stride = 0;
  std::int64_t tile_start = 0, offset = 0;  ///< of the tile in its buffer, of the row in the tile [bytes]
  std::uint32_t granule = 1;
  std::size_t n = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;

  /// @param tile has a written-bitmap
  virtual void read(const RowRead& row, const Tile& tile) = 0;
  /// Which operand of a step it wants to see.
  virtual std::size_t operand_of_interest(Fn fn) const = 0;
  /// That operand of a step in float32 work; `buffer`: the variable that it was made of, -1 for none.
  virtual void operand(Fn fn, std::uint32_t line, std::int64_t buffer, const float* values, std::size_t n) = 0;
};

}  // namespace nkigrid::nkisim
