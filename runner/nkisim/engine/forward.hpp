#pragma once

#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/ranges.hpp"

namespace nkigrid::nkisim {

/// A valid program that computes the same bytes with fewer copies: whole-tile loads of read-only memory are read in
/// place by the operations that follow, and a result that is stored at once is computed into its destination.
/// Constants' data is left out. Internal to the room.
Program forwarded(const Program& program, const Ranges& ranges);

/// Dimension of `buffer` that each axis of the space walks exactly over, when a write through `dst` covers every
/// element once; -1 for axes of extent 1. Empty when it does not.
std::vector<int> covering_axes(const Program& program, const Access& dst, const std::vector<std::int64_t>& shape);

}  // namespace nkigrid::nkisim
