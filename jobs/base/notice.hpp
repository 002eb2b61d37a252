#pragma once

#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace nkigrid {

/// Writes "nkigrid: TEXT" and a line end to stderr in one piece, made printable: words of servers, kernels and other
/// people's files come here. @see notice
void print_notice(std::string_view text);

/// What we tell on stderr, but for the progress line. @param format as fmt::format has it
template <class... Words>
void notice(fmt::format_string<Words...> format, Words&&... words) {
  print_notice(fmt::format(format, std::forward<Words>(words)...));
}

/// A notice that begins with "warning: ".
template <class... Words>
void warn(fmt::format_string<Words...> format, Words&&... words) {
  print_notice("warning: " + fmt::format(format, std::forward<Words>(words)...));
}

}  // namespace nkigrid
