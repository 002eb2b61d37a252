#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nkigrid::agent {

/// Code found in a reply's text.
struct Extracted {
  std::string code;      ///< every byte between the fences' lines
  std::string_view how;  ///< "last_fence", "last_fence_extended" or "unclosed_fence"
};

/// The kernel in a reply without a tool call, outside think blocks: the last fence tagged as Python, nki or nothing
/// that holds a function decorated with jit, whether it is well formed or not (the compiler then names the line of the
/// slip; no earlier draft is judged in its place); without any, the last that looks like one. Usage examples, quoted
/// lines and the PyTorch module are none (code_kind.hpp). An unclosed last fence runs to the end of the reply, unless
/// the reply was cut.
/// @param truncated the reply ended at its token limit
std::optional<Extracted> extract_code(std::string_view reply, bool truncated);

}  // namespace nkigrid::agent
