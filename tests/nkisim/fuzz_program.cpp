#include <cstddef>
#include <cstdint>
#include <string_view>

#include "jobs/base/error.hpp"
#include "runner/nkisim/program/parse.hpp"
#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/validate.hpp"
#include "tests/nkisim/write.hpp"

/// libFuzzer's entry: any bytes give a program that writes back equal, or Error{corrupt}. Built with -fsanitize=fuzzer
/// by the fuzz command and run over seeds by the tests.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const nkigrid::nkisim::Program program = nkigrid::nkisim::parse_program(bytes);
    if (nkigrid::nkisim::to_bytes(program) != bytes) __builtin_trap();
    nkigrid::nkisim::validate(program);
  } catch (const nkigrid::Error& error) {
    if (error.code() != nkigrid::ErrorCode::corrupt) __builtin_trap();
  }
  return 0;
}
