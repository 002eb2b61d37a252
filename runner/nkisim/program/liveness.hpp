#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runner/nkisim/program/program.hpp"

/// When the blocks of a block tensor are dead. Internal to the room.
namespace nkigrid::nkisim {

/// Where a tensor's memory is taken, and how much of it.
struct Home {
  const Loop* loop = nullptr;  ///< innermost one whose trips may each take it anew; none: its alloc says where
  std::int64_t bytes = 0;      ///< what lives there at a time: all of the tensor, or the blocks that one trip touches
};

/// By buffer; aliases have none (0 bytes). The pointers are into the program.
std::vector<Home> homes_of(const Program& program);

/// By loop id: block tensors (root buffers) whose blocks, as far as one trip of the loop touches them, no other trip of
/// it or of the loops around, since the tensor's alloc, ever touches. Their memory may be used again after each trip.
std::map<std::uint32_t, std::vector<std::uint32_t>> dead_after_trip(const Program& program);

}  // namespace nkigrid::nkisim
