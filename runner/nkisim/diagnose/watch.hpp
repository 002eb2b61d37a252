#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/nkisim/engine/observer.hpp"
#include "runner/nkisim/program/program.hpp"

/// What a diagnosing run sees: reads of memory that was never written, and operands outside a function's range.
/// Internal to the room.
namespace nkigrid::nkisim {

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

class Watch final : public Observer {
 public:
  explicit Watch(const Program& program) : program_(program) {}

  void read(const RowRead& row, const Tile& tile) override;
  void operand(Fn fn, std::uint32_t line, std::int64_t buffer, const float* values, std::size_t n) override;
  std::size_t operand_of_interest(Fn fn) const override { return fn == Fn::divide ? 1 : 0; }

  /// By root buffer, in the order of their first reads.
  const std::vector<std::pair<std::uint32_t, Uninitialised>>& uninitialised() const { return uninitialised_; }
  /// Those with values outside, in order of line.
  std::vector<OutOfRange> out_of_range() const;

 private:
  const Program& program_;
  std::vector<std::pair<std::uint32_t, Uninitialised>> uninitialised_;
  std::map<std::pair<std::uint32_t, Fn>, OutOfRange> ranges_;
};

std::string to_text(const Program& program, const Uninitialised& what);
std::string to_text(const Program& program, const OutOfRange& what);

}  // namespace nkigrid::nkisim
