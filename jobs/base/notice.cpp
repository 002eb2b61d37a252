#include "jobs/base/notice.hpp"

#include <cstdio>

#include "jobs/base/text.hpp"

namespace nkigrid {

void print_notice(std::string_view text) { fmt::print(stderr, "nkigrid: {}\n", printable(text)); }

void print_said(std::string_view text) { fmt::print("{}", printable(text)); }

}  // namespace nkigrid
