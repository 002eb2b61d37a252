#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/nkisim/engine/storage.hpp"
#include "runner/nkisim/program/program.hpp"

/// What a diagnosing run sees: reads of memory that was never written, and operands outside a function's range.
/// Internal to the room.
namespace nkigrid::nkisim {

/// A row that is about to be read.
struct RowRead {
  std::uint32_t buffer = 0, root = 0, line = 0;
  std::int64_t item = 4, stride = 0;
  std::int64_t tile_start = 0, offset = 0;  ///< of the tile in its buffer, of the row in the tile [bytes]
  std::uint32_t granule = 1;
  std::size_t n = 0;
};

/// The first read of a buffer's undefined memory, and how many there were.
struct Uninitialised {
  std::uint32_t buffer = 0;    ///< as it was read (an alias, maybe)
  std::uint32_t line = 0;      ///< of the operation that read
  std::uint64_t first = 0;     ///< row-major element of `buffer`
  std::uint64_t elements = 0;  ///< reads, not places
};

/// Operands of one function on one line that lay outside of its range.
struct OutOfRange {
  Fn fn = Fn::exp;
  std::uint32_t line = 0;
  std::int64_t buffer = -1;            ///< the variable that the operand was made of; -1: none
  std::uint64_t outside = 0, all = 0;  ///< values
  float lowest = 0, highest = 0;       ///< of all finite values seen
};

class Watch {
 public:
  explicit Watch(const Program& program) : program_(program) {}

  void read(const RowRead& row, const Tile& tile);
  /// @param values operand operand_of_interest(fn) of a step
  void operand(Fn fn, std::uint32_t line, std::int64_t buffer, const float* values, std::size_t n);
  static std::size_t operand_of_interest(Fn fn) { return fn == Fn::divide ? 1 : 0; }

  /// By root buffer, in the order of their first reads.
  const std::vector<std::pair<std::uint32_t, Uninitialised>>& uninitialised() const { return uninitialised_; }
  /// Those with values outside, in order of line.
  std::vector<OutOfRange> out_of_range() const;

 private:
  const Program& program_;
  std::vector<std::pair<std::uint32_t, Uninitialised>> uninitialised_;
  std::map<std::pair<std::uint32_t, Fn>, OutOfRange> ranges_;
};

/// "variable `acc` (line 12)"; the parameter, the output, or "a temporary of line 12" where the source gives it no
/// name.
std::string variable_name(const Program& program, std::uint32_t buffer);
/// "[3, 0]"
std::string index_text(const std::vector<std::int64_t>& shape, std::uint64_t at);

std::string to_text(const Program& program, const Uninitialised& what);
std::string to_text(const Program& program, const OutOfRange& what);

}  // namespace nkigrid::nkisim
