#pragma once

#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/ranges.hpp"

namespace nkigrid::nkisim {

/// A valid program that computes the same bytes with fewer copies: whole-tile loads of read-only memory are read in
/// place by the operations that follow, and a result that is stored at once is computed into its destination.
/// Constants' data is left out. Internal to the room.
Program forwarded(const Program& program, const Ranges& ranges);

}  // namespace nkigrid::nkisim
