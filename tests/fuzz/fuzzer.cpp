#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.hpp"

/// libFuzzer's entry of one target. `run` compiles it once a target, with NKIGRID_FUZZ_TARGET naming it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nkigrid::fuzz::NKIGRID_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
