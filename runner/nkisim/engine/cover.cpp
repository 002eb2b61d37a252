#include "runner/nkisim/engine/cover.hpp"

#include <algorithm>
#include <optional>

#include "runner/nkisim/program/ranges.hpp"
#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::size_t kLookAhead = 256;  ///< bounds the work for a program of allocs alone

bool mentions(const Program& program, const Access& access, std::uint32_t root) {
  return root_of(program, access.buffer) == root || (access.dynamic && mentions(program, *access.dynamic, root));
}

/// Whether an operation covers `buffer`; nothing when it does not touch it.
template <class Op>
std::optional<bool> covers(const Program& program, const Op& op, std::uint32_t buffer) {
  bool is_read = false, may_skip = false;
  for_each_access(op, [&](const Access& access, bool written) {
    if (written) return;
    is_read = is_read || mentions(program, access, buffer);
    may_skip = may_skip || access.skip_out_of_bounds;  // a row whose source is skipped is not written
  });
  if (is_read) return false;
  if (!mentions(program, op.dst, buffer)) return std::nullopt;
  return !accumulates(op) && op.head.mask.empty() && op.dst.buffer == buffer && !op.dst.dynamic && !may_skip &&
         !covering_axes(program, op.dst, op.head.shape).empty();
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

bool is_covered_next(const Program& program, std::uint32_t buffer, const Block& nodes, std::size_t alloc) {
  for (std::size_t k = alloc + 1; k < std::min(nodes.size(), alloc + kLookAhead); ++k) {
    std::optional<bool> covered;
    if (const Map* map = std::get_if<Map>(&nodes[k].what)) {
      covered = covers(program, *map, buffer);
    } else if (const Fold* fold = std::get_if<Fold>(&nodes[k].what)) {
      covered = covers(program, *fold, buffer);
    } else if (!std::holds_alternative<Alloc>(nodes[k].what)) {
      return false;  // good enough: no look into loops and rarer operations
    }
    if (covered) return *covered;
  }
  return false;
}

}  // namespace nkigrid::nkisim
