#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "jobs/base/files.hpp"
#include "tests/fuzz/target_list.hpp"

namespace {

constexpr std::size_t kPlaces = 100;  ///< of a file that are cut at and damaged, evenly spread

std::size_t fed = 0;

using Target = void (*)(std::string_view);

void feed(Target target, const std::string& bytes) {
  ++fed;
  target(bytes);
}

/// The file as it is, cut short, and with single bytes damaged.
void replay(Target target, const std::string& bytes) {
  feed(target, bytes);
  const std::size_t step = bytes.size() / kPlaces + 1;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    feed(target, bytes.substr(0, at));
    for (const unsigned damage : {0x01u, 0x80u, 0xffu}) {
      std::string copy = bytes;
      copy[at] = static_cast<char>(static_cast<unsigned char>(copy[at]) ^ damage);
      feed(target, copy);
    }
  }
}

}  // namespace

/// Feeds every file of the given folders to a target, which traps where the fuzzer would. usage:
/// nkigrid_fuzz_replay TARGET FOLDER...; without any it prints the targets' names.
int main(int argc, char** argv) {
  const auto& targets = nkigrid::fuzz::targets();
  if (argc == 1) {
    for (const auto& [name, function] : targets) fmt::print("{}\n", name);
    return 0;
  }
  const auto target = targets.find(argv[1]);
  if (target == targets.end()) return 2;
  std::size_t files = 0;
  for (int k = 2; k < argc; ++k) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[k])) {
      if (!entry.is_regular_file()) continue;
      fmt::print("{}\n", entry.path().string());
      std::fflush(stdout);  // the last name printed is the one that trapped
      replay(target->second, nkigrid::read_file(entry.path()));
      ++files;
    }
  }
  fmt::print("{} files, {} inputs\n", files, fed);
  return files == 0 ? 1 : 0;
}
