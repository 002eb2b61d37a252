#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/fuzz/target_list.hpp"

namespace {

void (*target)(std::string_view) = nullptr;

}  // namespace

/// libFuzzer's entries, of the target that NKIGRID_FUZZ_TARGET names: the arguments are libFuzzer's.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("NKIGRID_FUZZ_TARGET");
  const auto& targets = nkigrid::fuzz::targets();
  const auto found = targets.find(name == nullptr ? "" : name);
  if (found == targets.end()) {
    std::fprintf(stderr, "fuzz: no target '%s'; there are:", name == nullptr ? "" : name);
    for (const auto& [known, function] : targets) std::fprintf(stderr, " %s", known.c_str());
    std::fputs("\n", stderr);
    std::exit(2);
  }
  target = found->second;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target({reinterpret_cast<const char*>(data), size});
  return 0;
}
