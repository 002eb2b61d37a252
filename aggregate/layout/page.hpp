#pragma once

#include <string>
#include <vector>

#include "aggregate/layout/format.hpp"
#include "aggregate/layout/sheet.hpp"

namespace nkigrid::aggregate {

/// One table of a page; without a row it is a sentence.
struct Block {
  Sheet sheet;
  std::string why_empty;  ///< why there is no row; read only then
};

/// Tables one after the other.
struct Page {
  std::vector<Block> blocks;
  std::vector<std::string> warnings;  ///< of the whole
};

/// Warnings stand last, each once. @param columns of the terminal that a text is for; 0: of any width
/// @pre format is text, markdown or latex
std::string page_as(const Page& page, Format format, std::size_t columns = 0);

}  // namespace nkigrid::aggregate
