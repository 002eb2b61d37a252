#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runner/nkisim/engine/run.hpp"

namespace nkigrid::nkisim {

/// Why a kernel that runs may give wrong numbers, in words that name its variables and lines.
struct Diagnosis {
  std::vector<std::string>
      causes;  ///< "variable `acc` (line 12) was read before it was written, first at [3, 0] by line 15"
  std::vector<std::string>
      narrow;  ///< variables held in fewer bits than float32: a cause where the error is of that size
};

/// Runs a valid program again, watched, and looks at its text: undefined memory that reaches an output, functions
/// outside of their range, results overwritten in a loop, affine_range loops whose order matters. Slower than
/// run_program() by a small factor; a program too large for that (a fixed count of elements) gets what its text alone
/// shows, so the words never depend on the machine. Deterministic. @throws as run_program()
Diagnosis diagnose(const Program& program, std::span<const std::span<const std::byte>> inputs, const Poison& poison,
                   const RunLimits& limits = {});

}  // namespace nkigrid::nkisim
