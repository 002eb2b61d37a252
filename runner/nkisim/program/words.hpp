#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/nkisim/program/program.hpp"

/// How messages name parts of a program. Internal to the room.
namespace nkigrid::nkisim {

/// "variable `acc` (line 12)"; the parameter, the output, or "a temporary of line 12" where the source gives it no
/// name.
std::string variable_name(const Program& program, std::uint32_t buffer);

/// "[3, 0]": the index of row-major element `at` of a shape.
std::string index_text(const std::vector<std::int64_t>& shape, std::uint64_t at);

}  // namespace nkigrid::nkisim
