#include "runner/nkisim/program/program.hpp"
#include "jobs/base/error.hpp"
#include "runner/nkisim/estimate/estimate.hpp"
#include "runner/nkisim/program/parse.hpp"
#include "runner/nkisim/program/validate.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/nkisim/write.hpp"

namespace nkigrid::fuzz {

void program(std::string_view bytes) {
  try {
    const nkisim::Program parsed = nkisim::parse_program(bytes);
    if (nkisim::to_bytes(parsed) != bytes) __builtin_trap();
    nkisim::validate(parsed);
    nkisim::estimate_us(parsed);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) __builtin_trap();
  }
}

}  // namespace nkigrid::fuzz
