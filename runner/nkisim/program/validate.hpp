#pragma once

#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

/// Proves that a program obeys the format's rules and NKI law (docs/formats/program.md, Limits). @throws Error{corrupt}
/// naming the line.
void validate(const Program& program);

}  // namespace nkigrid::nkisim
