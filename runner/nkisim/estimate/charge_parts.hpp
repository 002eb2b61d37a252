#pragma once

#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

/// A part of a composite is free because the instruction before it in its block has the cost of the whole. What no such
/// instruction pays for becomes a tensor_copy: a part over more points than the instruction has, a third part of one,
/// or one behind a DMA, a loop or a branch. (nl.loop_reduce of a loaded tile is one: the chip adds it.) So a program
/// that no tracer made cannot call its work parts of something small. To count by, never to run. Internal to the room.
void charge_parts(Program& program);

}  // namespace nkigrid::nkisim
