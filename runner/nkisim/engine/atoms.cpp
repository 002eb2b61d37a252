#include "runner/nkisim/engine/atoms.hpp"

#include <algorithm>

namespace nkigrid::nkisim {

std::int64_t value_of(const Affine& affine, const std::vector<std::int64_t>& values) {
  auto value = static_cast<std::uint64_t>(affine.constant);
  for (const Term& term : affine.terms)
    value += static_cast<std::uint64_t>(term.coefficient) * static_cast<std::uint64_t>(values[term.atom]);
  return static_cast<std::int64_t>(value);
}

std::int64_t derived_value(const Atom& atom, const std::vector<std::int64_t>& values) {
  const std::int64_t value = value_of(atom.operand, values);
  const std::int64_t quotient = value / atom.divisor - (value % atom.divisor < 0 ? 1 : 0);
  return atom.kind == Atom::Kind::floor_div ? quotient : value - quotient * atom.divisor;
}

AtomSet::AtomSet(const Program& program, Atom::Kind kind, std::uint32_t id) {
  std::vector<bool> changed(program.atoms.size(), false);
  for (std::uint32_t a = 0; a < program.atoms.size(); ++a) {
    const Atom& atom = program.atoms[a];
    if (atom.kind == kind && atom.id == id) {
      changed[a] = true;
      direct_.push_back(a);
    } else if (atom.kind == Atom::Kind::floor_div || atom.kind == Atom::Kind::mod) {
      changed[a] = std::any_of(atom.operand.terms.begin(), atom.operand.terms.end(),
                               [&](const Term& t) { return changed[t.atom]; });
      if (changed[a]) derived_.push_back(a);
    }
  }
}

void AtomSet::set(const Program& program, std::vector<std::int64_t>& values, std::int64_t value) const {
  for (const std::uint32_t atom : direct_) values[atom] = value;
  for (const std::uint32_t atom : derived_) values[atom] = derived_value(program.atoms[atom], values);
}

}  // namespace nkigrid::nkisim
