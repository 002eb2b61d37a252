#pragma once

#include <cstddef>
#include <vector>

#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/ranges.hpp"

/// What a program does with each of its buffers, as far as the forwarding of copies asks. Internal to the room.
namespace nkigrid::nkisim {

struct Usage {
  std::size_t writers = 0;        ///< maps, folds and matmuls into it
  std::size_t plain_readers = 0;  ///< sources of maps, folds and matmuls that read it
  bool other = false;  ///< any use that cannot be redirected: an alias, an index tile, the result of a matmul, scan,
                       ///< special, a read through an index tile or one that intervals do not prove in bounds
  const Node* first = nullptr;  ///< the first use, in program order
  const Block* home = nullptr;  ///< the block that its alloc stands in
};

/// By root buffer. The pointers are into the program.
std::vector<Usage> usage_of(const Program& program, const Ranges& ranges);

/// Intervals show that every point of `shape` lies inside the buffer, so no check is left for the run.
bool is_proven(const Program& program, const Ranges& ranges, const Access& access,
               const std::vector<std::int64_t>& shape);

}  // namespace nkigrid::nkisim
