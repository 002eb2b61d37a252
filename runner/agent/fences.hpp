#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nkigrid::agent {

/// A fenced block of Markdown, as a reply writes code.
struct Fence {
  std::string tag;   ///< first word behind the opening marks, lower case: "python", "bash", ""
  std::string text;  ///< every byte between the fence's lines
  bool closed = true;
  bool grown = false;  ///< it holds fences of its own, in a string
};

/// Blocks that may hold Python are tagged so, by a file's name, as nothing but text or code, or not at all.
bool is_python_tag(std::string_view tag);

/// The blocks of a text in their order, of back-ticks or tildes, in lists and quotations, too (whose indent is taken
/// off). The next line of at least as many marks, and nothing else, closes one (CommonMark 0.31, section 4.5). Two
/// things that models write are read otherwise: a block of Python that would end inside a string is grown over the
/// fences in it; one that was never closed ends where the next tagged one begins,
/// and one is closed by marks with words behind them.
std::vector<Fence> fences_of(std::string_view text);

}  // namespace nkigrid::agent
