#include "jobs/base/notice.hpp"

#include <cstdio>

#include "jobs/base/text.hpp"

namespace nkigrid {

void print_notice(std::string_view text) { fmt::print(stderr, "nkigrid: {}\n", printable(text)); }

/// A write that fails leaves its mark on the stream, and the program's end tells it once.
void print_said(std::string_view text) {
  const auto said = printable(text);
  std::fwrite(said.data(), 1, said.size(), stdout);
}

}  // namespace nkigrid
