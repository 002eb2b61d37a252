#pragma once

#include <string_view>

#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

/// Reads a program. @throws Error{corrupt} naming the offset and what is wrong; never anything else, for any bytes.
Program parse_program(std::string_view bytes);

}  // namespace nkigrid::nkisim
