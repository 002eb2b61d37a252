#pragma once

#include <string>

#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

/// The bytes of a program; parse_program() gives it back equal. For tests alone: programs are written by the tracer.
std::string to_bytes(const Program& program);

}  // namespace nkigrid::nkisim
