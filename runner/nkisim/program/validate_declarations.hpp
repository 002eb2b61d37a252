#pragma once

#include "runner/nkisim/program/validate_state.hpp"

namespace nkigrid::nkisim {

/// The rules of buffers, of the lists of parameters and outputs, and of atoms; fills in what the state knows of them.
/// @throws Error{corrupt}. Internal to the room.
void check_declarations(ValidateState& state);

}  // namespace nkigrid::nkisim
