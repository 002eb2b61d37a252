#pragma once

#include <cstddef>
#include <vector>

#include "runner/nkisim/program/program.hpp"

/// Writes that cover a whole buffer: nothing of what was there before can be seen after them. Internal to the room.
namespace nkigrid::nkisim {

/// Dimension of `buffer` that each axis of the space walks exactly over, when a write through `dst` covers every
/// element once; -1 for axes of extent 1. Empty when it does not.
std::vector<int> covering_axes(const Program& program, const Access& dst, const std::vector<std::int64_t>& shape);

/// The first operation after nodes[alloc] that touches `buffer`, in the same block or a loop in it, writes all of it:
/// the alloc need not poison, because poison would never be seen.
bool is_covered_next(const Program& program, std::uint32_t buffer, const Block& nodes, std::size_t alloc);

}  // namespace nkigrid::nkisim
