#include "runner/nkisim/program/ranges.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "jobs/base/error.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::int64_t kLimit = 1LL << 60;

std::int64_t checked(bool overflowed, std::int64_t value) {
  if (overflowed || value > kLimit || value < -kLimit) {
    throw Error(ErrorCode::corrupt, "an index expression overflows (legal: within 2^60)");
  }
  return value;
}
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  const bool overflowed = __builtin_mul_overflow(a, b, &out);
  return checked(overflowed, out);
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  const bool overflowed = __builtin_add_overflow(a, b, &out);
  return checked(overflowed, out);
}
void add_scaled(Range& sum, std::int64_t coefficient, std::int64_t lo, std::int64_t hi) {
  const std::int64_t a = times(coefficient, lo), b = times(coefficient, hi);
  sum.lo = plus(sum.lo, std::min(a, b));
  sum.hi = plus(sum.hi, std::max(a, b));
}
std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

std::uint32_t root_of(const Program& program, std::uint32_t buffer) noexcept {
  // Whoever follows a chain for each access goes over it as often: a parser's aliases know where theirs ends.
  while (program.buffers[buffer].alias_of)
    buffer = program.buffers[buffer].root.value_or(*program.buffers[buffer].alias_of);
  return buffer;
}

std::int64_t checked_product(const std::vector<std::int64_t>& extents, std::int64_t product) {
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(product, extent, &product) || product > (1LL << 62)) {
      throw Error(ErrorCode::corrupt, "a shape's product overflows (legal: up to 2^62)");
    }
  }
  return product;
}

Ranges::Ranges(const Program& program) {
  collect(program.body);
  for (const Atom& atom : program.atoms) {
    atoms_.push_back(range_of(program, atom));
    simple_.push_back(atom.kind == Atom::Kind::loop || atom.kind == Atom::Kind::program_id);
  }
}

void Ranges::collect(const Block& block) {
  for (const Node& node : block) {
    if (const Loop* loop = std::get_if<Loop>(&node.what)) {
      if (!trips_.emplace(loop->id, loop->trips).second) {
        throw Error(ErrorCode::corrupt, fmt::format("line {}: loop id {} is not unique", node.line, loop->id));
      }
      collect(loop->body);
    } else if (const If* branch = std::get_if<If>(&node.what)) {
      collect(branch->then_body);
      collect(branch->else_body);
    }
  }
}

Range Ranges::range_of(const Program& program, const Atom& atom) const {
  switch (atom.kind) {
    case Atom::Kind::loop: {
      const auto found = trips_.find(atom.id);
      if (found == trips_.end())
        throw Error(ErrorCode::corrupt, fmt::format("an atom names loop {}, which is none", atom.id));
      return {0, std::max<std::int64_t>(0, checked(false, found->second) - 1), true};
    }
    case Atom::Kind::program_id:
      if (atom.id >= program.grid.size())
        throw Error(ErrorCode::corrupt, fmt::format("an atom names grid axis {}", atom.id));
      return {0, std::max<std::int64_t>(0, checked(false, program.grid[atom.id]) - 1), true};
    case Atom::Kind::floor_div: {
      const Range inner = of(atom.operand);
      return {floor_div(inner.lo, atom.divisor), floor_div(inner.hi, atom.divisor), false};
    }
    case Atom::Kind::mod: {
      const Range inner = of(atom.operand);
      const bool inside = inner.lo >= 0 && inner.hi < atom.divisor;
      return inside ? Range{inner.lo, inner.hi, false} : Range{0, checked(false, atom.divisor) - 1, false};
    }
  }
  return {};
}

Range Ranges::of(const Affine& affine) const {
  Range sum{checked(false, affine.constant), affine.constant, true};
  for (std::size_t k = 0; k < affine.terms.size(); ++k) {
    const Term& term = affine.terms[k];
    add_scaled(sum, term.coefficient, atoms_[term.atom].lo, atoms_[term.atom].hi);
    if (!simple_[term.atom]) sum.exact = false;
    for (std::size_t j = 0; j < k; ++j) {
      if (affine.terms[j].atom == term.atom) sum.exact = false;
    }
  }
  return sum;
}

Range Ranges::of(const Index& index, const std::vector<std::int64_t>& shape) const {
  Range sum = of(index.base);
  for (std::size_t k = 0; k < shape.size(); ++k)
    add_scaled(sum, index.slots[k], 0, std::max<std::int64_t>(0, shape[k] - 1));
  return sum;
}

}  // namespace nkigrid::nkisim
