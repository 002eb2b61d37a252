#pragma once

#include <string>

#include "cli/transcript.hpp"

namespace nkigrid::cli {

/// What went over the wire, a JSON line a turn: {"turn", "request", "response"}, both as text, byte for byte (the
/// request put together again from what the log keeps of it), in ASCII; "" where there is no wire.
/// @throws Error{corrupt} when the log does not hold a turn that a later one is told by
std::string wire_lines(const Transcript& transcript);

}  // namespace nkigrid::cli
