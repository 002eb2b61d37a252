#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "jobs/base/files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kPlaces = 100;  ///< of a file that are cut at and damaged, evenly spread

std::size_t fed = 0;

void feed(const std::string& bytes) {
  ++fed;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

/// The file as it is, cut short, and with single bytes damaged.
void replay(const std::string& bytes) {
  feed(bytes);
  const std::size_t step = bytes.size() / kPlaces + 1;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    feed(bytes.substr(0, at));
    for (const unsigned damage : {0x01u, 0x80u, 0xffu}) {
      std::string copy = bytes;
      copy[at] = static_cast<char>(static_cast<unsigned char>(copy[at]) ^ damage);
      feed(copy);
    }
  }
}

}  // namespace

/// Feeds every file of the given folders to the fuzzer's entry, which traps where the fuzzer would. usage:
/// nkigrid_fuzz_replay FOLDER...
int main(int argc, char** argv) {
  std::size_t files = 0;
  for (int k = 1; k < argc; ++k) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[k])) {
      if (!entry.is_regular_file()) continue;
      fmt::print("{}\n", entry.path().string());
      std::fflush(stdout);  // the last name printed is the one that trapped
      replay(nkigrid::read_file(entry.path()));
      ++files;
    }
  }
  fmt::print("{} files, {} inputs\n", files, fed);
  return files == 0 ? 1 : 0;
}
