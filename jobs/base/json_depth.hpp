#pragma once

#include <string_view>

namespace nkigrid {

/// The text up to where its brackets stand deeper than 256 levels: all of it for any JSON that a program of ours or a
/// server's writes. Whoever builds, copies, prints or frees a value goes as deep as that, and a few megabytes of
/// brackets take gigabytes and the stack. What was cut is no JSON: a parser says so. Every JSON that may be a
/// stranger's is parsed through it, from text whose bytes are bounded.
std::string_view shallow_part(std::string_view text) noexcept;

}  // namespace nkigrid
