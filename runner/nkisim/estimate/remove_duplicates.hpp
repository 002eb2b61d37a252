#pragma once

#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

/// Removes a loop that makes from the same operands what a loop before it in its block makes; who reads its results
/// reads the other's. A loop that only loads stays: loads are made as often as the kernel says. Internal to the room.
void remove_duplicates(Program& program);

}  // namespace nkigrid::nkisim
