#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runner/nkisim/program/program.hpp"

/// Interval arithmetic over atoms and axes, shared by the validator (which refuses) and the engine (which skips proven
/// checks).
namespace nkigrid::nkisim {

struct Range {
  std::int64_t lo = 0, hi = 0;
  bool exact = true;  ///< both ends are reached (absent conditions): the terms are distinct loops, program ids and axes
};

/// Follows aliases to the buffer that owns the storage. @pre alias targets have smaller ids (validate, parse).
std::uint32_t root_of(const Program& program, std::uint32_t buffer) noexcept;

/// Product of extents. @throws Error{corrupt} beyond 2^62.
std::int64_t checked_product(const std::vector<std::int64_t>& extents, std::int64_t times = 1);

class Ranges {
 public:
  /// @throws Error{corrupt} on overflow (|value| beyond 2^60) or when an atom names no loop or axis of the program.
  explicit Ranges(const Program& program);

  Range of(const Affine& affine) const;
  /// Over the whole iteration space.
  Range of(const Index& index, const std::vector<std::int64_t>& shape) const;
  const Range& atom(std::uint32_t id) const { return atoms_[id]; }
  /// Trips by loop id.
  const std::map<std::uint32_t, std::int64_t>& trips() const { return trips_; }

 private:
  void collect(const Block& block);
  Range range_of(const Program& program, const Atom& atom) const;

  std::map<std::uint32_t, std::int64_t> trips_;
  std::vector<Range> atoms_;
  std::vector<bool> simple_;  // a loop or program id: independent of the others
};

}  // namespace nkigrid::nkisim
