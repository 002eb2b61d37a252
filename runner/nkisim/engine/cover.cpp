#include "runner/nkisim/engine/cover.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "runner/nkisim/program/ranges.hpp"
#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::size_t kLookAhead = 256;  ///< bounds the work for a program of allocs alone

bool mentions(const Program& program, const Access& access, std::uint32_t root) {
  return root_of(program, access.buffer) == root || (access.dynamic && mentions(program, *access.dynamic, root));
}

/// The points that an operation writes: of a matmul's, the axis that it sums over is none.
template <class Op>
std::vector<std::int64_t> written_shape(const Op& op) {
  std::vector<std::int64_t> shape = op.head.shape;
  if constexpr (std::is_same_v<Op, Matmul>) shape[0] = 1;
  return shape;
}

/// What a look at the nodes found: does the first that touches the buffer cover it, as far as its mask lets it?
struct Cover {
  bool covers = false;
  const Head* masked = nullptr;  ///< the operation's, if it has a mask
};
constexpr Cover kNone{};

/// Whether an operation covers `buffer`; nothing when it does not touch it.
template <class Op>
std::optional<Cover> covers(const Program& program, const Op& op, std::uint32_t buffer) {
  bool is_read = false, is_written = false, may_skip = false;
  for_each_access(op, [&](const Access& access, bool written) {
    (written ? is_written : is_read) |= mentions(program, access, buffer);
    may_skip = may_skip || (!written && access.skip_out_of_bounds);  // a row whose source is skipped is not written
  });
  if (is_read) return kNone;
  if (!is_written) return std::nullopt;
  if constexpr (std::is_same_v<Op, SpecialOp>) {
    return kNone;
  } else {
    // A matmul that accumulates overwrites what nothing has written yet.
    const bool adds = accumulates(op) && !std::is_same_v<Op, Matmul>;
    const bool all = !adds && op.dst.buffer == buffer && !op.dst.dynamic && !may_skip &&
                     !covering_axes(program, op.dst, written_shape(op)).empty();
    return Cover{all, op.head.mask.empty() ? nullptr : &op.head};
  }
}

/// The same of the nodes [from, ...) of a block, by the first of them that touches `buffer`. @param look how many nodes
/// may still be looked at
std::optional<Cover> block_covers(const Program& program, const Block& nodes, std::size_t from, std::uint32_t buffer,
                                  std::size_t& look) {
  const auto of = [&](const auto& what) -> std::optional<Cover> {
    using What = std::decay_t<decltype(what)>;
    if constexpr (std::is_same_v<What, Alloc>) {
      return std::nullopt;
    } else if constexpr (std::is_same_v<What, Loop>) {  // in its first trip
      if (what.trips == 0) return kNone;
      const std::optional<Cover> inside = block_covers(program, what.body, 0, buffer, look);
      return inside && inside->masked ? kNone : inside;  // its mask may hang on the loop, which stands elsewhere yet
    } else if constexpr (std::is_same_v<What, If>) {
      return kNone;  // good enough: no look into branches
    } else {
      return covers(program, what, buffer);
    }
  };
  for (std::size_t k = from; k < nodes.size(); ++k) {
    if (look == 0) return kNone;
    --look;
    if (const std::optional<Cover> covered = std::visit(of, nodes[k].what)) return covered;
  }
  return std::nullopt;
}

/// An index at the point of the space where it is least; it wraps, as all arithmetic of addresses does.
Affine least_of(const Index& index, const std::vector<std::int64_t>& shape) {
  Affine least = index.base;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::int64_t farthest = 0;
    (void)__builtin_mul_overflow(std::min<std::int64_t>(index.slots[axis], 0), shape[axis] - 1, &farthest);
    (void)__builtin_add_overflow(least.constant, farthest, &least.constant);
  }
  return least;
}

}  // namespace

std::vector<int> covering_axes(const Program& program, const Access& dst, const std::vector<std::int64_t>& shape) {
  const Buffer& buffer = program.buffers[dst.buffer];
  std::vector<int> axes(shape.size(), -1);
  for (std::size_t dim = 0; dim < buffer.shape.size(); ++dim) {
    const Index& index = dst.dims[dim];
    if (!index.base.terms.empty() || index.base.constant != 0) return {};
    bool found = buffer.shape[dim] == 1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (index.slots[axis] == 0 || shape[axis] == 1) continue;
      if (index.slots[axis] != 1 || axes[axis] >= 0 || found || shape[axis] != buffer.shape[dim]) return {};
      axes[axis] = static_cast<int>(dim);
      found = true;
    }
    if (!found) return {};
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != 1 && axes[axis] < 0) return {};
  }
  return axes;
}

std::optional<std::vector<Affine>> unseen_while(const Program& program, std::uint32_t buffer, const Block& nodes,
                                                std::size_t alloc) {
  std::size_t look = kLookAhead;
  const Cover found = block_covers(program, nodes, alloc + 1, buffer, look).value_or(kNone);
  if (!found.covers) return std::nullopt;
  std::vector<Affine> least;
  if (found.masked == nullptr) return least;
  for (const Condition& condition : found.masked->mask) {
    if (condition.kind != Condition::Kind::not_negative) return std::nullopt;
    least.push_back(least_of(condition.value, found.masked->shape));
  }
  return least;
}

}  // namespace nkigrid::nkisim
