#pragma once

#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

/// Joins a loop to the next one of as many trips that shares a tensor with it which one of them writes, where each trip
/// of both keeps to a part of such tensors of its own. What stood between, and does not touch the first loop's tensors,
/// stands before both. Internal to the room.
void fuse_loops(Program& program);

}  // namespace nkigrid::nkisim
