#pragma once

#include <string_view>

namespace nkigrid::agent {

/// What a block of a reply is, best last.
enum class CodeKind {
  other,     ///< a usage example, a quoted line, the PyTorch module, output, prose
  function,  ///< looks like a kernel: a function that names no PyTorch, and either speaks NKI or is well-formed Python
  kernel     ///< a function decorated with jit, whether the rest is well formed or not
};

/// Looks at decorators, definitions and names outside of strings and comments; a slip of syntax elsewhere in the text
/// does not change the answer, so that it is the compiler that reports it.
CodeKind kind_of(std::string_view code);

}  // namespace nkigrid::agent
