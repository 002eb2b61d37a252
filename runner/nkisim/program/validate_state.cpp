#include "runner/nkisim/program/validate_state.hpp"

#include <fmt/format.h>

#include "jobs/base/error.hpp"

namespace nkigrid::nkisim {

ValidateState::ValidateState(const Program& program_) : program(program_), ranges(program_) {}

void ValidateState::fail(std::string_view what) const {
  throw Error(ErrorCode::corrupt, line == 0 ? fmt::format("program is not valid: {}", what)
                                            : fmt::format("program is not valid at line {}: {}", line, what));
}

}  // namespace nkigrid::nkisim
