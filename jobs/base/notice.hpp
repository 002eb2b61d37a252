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

/// Writes `text` to stdout, made printable. @see say
void print_said(std::string_view text);

/// What a verb answers in words on stdout. What programs read (JSON, CSV) has its own escapes and goes past this, as do
/// texts with colours of ours, in which each foreign part is made printable by itself.
template <class... Words>
void say(fmt::format_string<Words...> format, Words&&... words) {
  print_said(fmt::format(format, std::forward<Words>(words)...));
}

}  // namespace nkigrid
