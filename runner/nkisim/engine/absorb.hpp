#pragma once

#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

/// Turns loops, and the grid, whose trips are one map each into axes of that map: rows that lie together in memory are
/// then worked on in one go, however a kernel cuts them into tiles. The bytes computed are the same: trips that are
/// absorbed write different elements and read nothing that one of them writes. Internal to the room.
/// @param program as forwarded() made it
void absorb_loops(Program& program);

}  // namespace nkigrid::nkisim
