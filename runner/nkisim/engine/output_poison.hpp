#pragma once

#include <vector>

#include "runner/nkisim/engine/storage.hpp"
#include "runner/nkisim/program/program.hpp"

/// Poison of outputs without a pass over memory that the kernel overwrites anyway. Internal to the room.
namespace nkigrid::nkisim {

/// By root buffer: an operation reads it (as a source, or to accumulate), so it must be poisoned before the run.
std::vector<bool> buffers_read(const Program& program);

/// Poisons exactly the bytes of an output that were never written.
void poison_unwritten(const Tile& tile, Dtype dtype, std::uint64_t bytes, std::uint32_t granule,
                      const Poison& poison) noexcept;

}  // namespace nkigrid::nkisim
