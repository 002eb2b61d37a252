#pragma once

#include <cstdint>
#include <vector>

#include "runner/nkisim/program/program.hpp"

/// Values of atoms while a program runs. Internal to the room.
namespace nkigrid::nkisim {

/// The value of an affine expression; it wraps.
std::int64_t value_of(const Affine& affine, const std::vector<std::int64_t>& values);

/// The value of a floor_div or mod atom; `values` has those of all earlier atoms.
std::int64_t derived_value(const Atom& atom, const std::vector<std::int64_t>& values);

/// The atoms that a loop's trip number or a program id decides. Invariant of a run: after set(), every atom whose loops
/// are open has the value of this trip, so operations read atoms and never compute them.
class AtomSet {
 public:
  AtomSet() = default;  ///< none
  AtomSet(const Program& program, Atom::Kind kind, std::uint32_t id);

  void set(const Program& program, std::vector<std::int64_t>& values, std::int64_t value) const;

 private:
  std::vector<std::uint32_t> direct_;   ///< are the value
  std::vector<std::uint32_t> derived_;  ///< follow from it, an atom's operands before it
};

}  // namespace nkigrid::nkisim
