#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "runner/nkisim/program/program.hpp"

/// Writes that cover a whole buffer: nothing of what was there before can be seen after them. Internal to the room.
namespace nkigrid::nkisim {

/// Dimension of `buffer` that each axis of the space walks exactly over, when a write through `dst` covers every
/// element once; -1 for axes of extent 1. Empty when it does not.
std::vector<int> covering_axes(const Program& program, const Access& dst, const std::vector<std::int64_t>& shape);

/// When nobody can see the poison of nodes[alloc]: the first operation after it that touches `buffer`, in the same
/// block or a loop in it, writes all of it. @returns what must not be negative when the alloc runs, the mask's
/// conditions at their least points: none for a write without a mask; nothing where poison may be seen.
std::optional<std::vector<Affine>> unseen_while(const Program& program, std::uint32_t buffer, const Block& nodes,
                                                std::size_t alloc);

}  // namespace nkigrid::nkisim
