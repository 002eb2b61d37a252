#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/ranges.hpp"

/// The executable form of an operation's iteration space. All that varies over it (byte offsets, block numbers, indices
/// to check, mask values) is one linear form each. An odometer walks all axes but the last, the row, and keeps the
/// forms' values by adding steps; along the row an inner loop works with strides alone. So an operation's cost does not
/// grow with what its indices look like. Internal to the room.
namespace nkigrid::nkisim {

/// constant + sum(coefficient * atom) + sum(steps[axis] * point[axis]); arithmetic wraps, valid programs stay in range.
struct Form {
  std::int64_t constant = 0;
  std::vector<Term> terms;
  std::vector<std::int64_t> steps;
};

/// An access as addresses.
struct View {
  std::uint32_t buffer = 0, root = 0;
  Dtype dtype = Dtype::float32;
  std::int64_t item = 4;
  std::uint32_t offset = 0;  ///< form: byte offset in the tile
  std::int32_t block = -1;   ///< form: block number; -1: always block 0
  struct Check {
    std::uint32_t form = 0;
    std::int64_t extent = 0;
    std::uint32_t dim = 0;
  };
  std::vector<Check> checks;        ///< indices that no interval proved
  std::unique_ptr<View> tile;       ///< index tile of a dynamic access
  Check dynamic;                    ///< its dimension: form of the static part, extent
  std::int64_t dynamic_stride = 0;  ///< bytes (or blocks) one index moves
  bool dynamic_block = false;
  bool skip = false;
};

struct MaskTerm {
  Condition::Kind kind = Condition::Kind::not_negative;
  std::uint32_t form = 0;
};

struct Span {
  std::int64_t lo = 0, hi = 0;
};

class Space {
 public:
  Space(const Program& program, const Ranges& ranges, const std::vector<std::int64_t>& shape,
        const std::vector<Condition>& mask);

  /// Only before layout().
  std::uint32_t add(const Index& index, std::int64_t scale = 1);
  View add(const Access& access);

  /// Marks an axis that must not become the row (several elements of it share an address or a lookup).
  void forbid_inner(std::size_t axis) { no_inner_[axis] = true; }
  bool moves(std::uint32_t form, std::size_t axis) const { return forms_[form].steps[axis] != 0; }
  std::size_t rank() const { return extents_.size(); }
  std::int64_t extent(std::size_t axis) const { return extents_[axis]; }

  /// Puts the axes in the order of the work: kept ones, folded ones, the row last, be it kept or folded; drops extents
  /// of 1, joins neighbours that are one run. Points of a map are independent, so any order of its axes will do; where
  /// several add to one element, forbid_inner() keeps the axis out of the row.
  /// @param folded a flag an axis @returns the number of kept axes before the row
  std::size_t layout(const std::vector<bool>& folded, bool row_is_kept);
  /// The axes as they are (matmul, scan).
  void layout_fixed();

  /// Values of all forms at the origin.
  void begin(const std::int64_t* atoms, std::vector<std::int64_t>& values) const;
  std::int64_t step(std::uint32_t form, std::size_t axis) const { return steps_[axis][form]; }
  const std::vector<MaskTerm>& mask() const { return mask_; }
  /// Moves the form values `times` along an axis; wraps.
  void move(std::vector<std::int64_t>& values, std::size_t axis, std::int64_t times) const {
    const std::vector<std::int64_t>& steps = steps_[axis];
    for (std::size_t f = 0; f < steps.size(); ++f) {
      values[f] = static_cast<std::int64_t>(static_cast<std::uint64_t>(values[f]) +
                                            static_cast<std::uint64_t>(steps[f]) * static_cast<std::uint64_t>(times));
    }
  }

  /// The parts of row axis `axis` that the mask leaves, of [0, extent). @returns how many.
  using Spans = std::array<Span, kMaxConditions + 1>;
  int spans(const std::int64_t* values, std::size_t axis, Spans& out) const;
  /// The same by the conditions that move along `axis` alone: of a space where each condition moves along one axis at
  /// most.
  int own_spans(const std::int64_t* values, std::size_t axis, Spans& out) const;

 private:
  int spans(const std::int64_t* values, std::size_t axis, bool own, Spans& out) const;
  bool moves(std::uint32_t form) const;
  void add_index_tile(const Access& tile, View& view);
  std::size_t group(const std::vector<bool>& folded);
  std::size_t join_runs(std::size_t kept);
  std::size_t choose_row(std::size_t first, std::size_t last) const;
  bool joins(std::size_t outer, std::size_t inner) const;
  void join(std::size_t outer, std::size_t inner);
  void reorder(const std::vector<std::size_t>& order);

  const Program& program_;
  const Ranges& ranges_;
  std::vector<std::int64_t> shape_, extents_;
  std::vector<bool> no_inner_;
  std::vector<Form> forms_;
  std::vector<MaskTerm> mask_;
  std::vector<std::vector<std::int64_t>> steps_;  // [axis][form], after layout
};

/// Walks axes [first, last) of a space; form values follow.
class Odometer {
 public:
  Odometer(const Space& space, std::vector<std::int64_t>& values, std::size_t first, std::size_t last)
      : space_(space), values_(values), first_(first), last_(last) {}
  /// To the next point in row-major order; false when it is back at the origin.
  bool next() {
    for (std::size_t axis = last_; axis-- > first_;) {
      if (++at_[axis] < space_.extent(axis)) {
        space_.move(values_, axis, 1);
        return true;
      }
      space_.move(values_, axis, 1 - space_.extent(axis));
      at_[axis] = 0;
    }
    return false;
  }
  std::int64_t at(std::size_t axis) const { return at_[axis]; }

 private:
  const Space& space_;
  std::vector<std::int64_t>& values_;
  std::size_t first_, last_;
  std::array<std::int64_t, kMaxRank + 1> at_{};
};

}  // namespace nkigrid::nkisim
