#pragma once

#include <string>
#include <vector>

#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

/// Stores that every trip of a loop repeats on the same elements, so that only the last trip stays.
std::vector<std::string> overwritten_in_loops(const Program& program);

}  // namespace nkigrid::nkisim
