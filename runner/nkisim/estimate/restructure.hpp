#pragma once

#include "runner/nkisim/program/program.hpp"

/// What the vendor's compiler makes of a program's loops before it places tensors. docs/decisions/estimate.md. Internal
/// to the room.
namespace nkigrid::nkisim {

/// A copy to count by, never to run: its loops are fused, its duplicates removed, its constants have no data.
Program restructured(const Program& program);

}  // namespace nkigrid::nkisim
