#pragma once

#include <string>
#include <vector>

#include "aggregate/layout/format.hpp"
#include "aggregate/layout/sheet.hpp"

namespace nkigrid::aggregate {

/// One table of a page; without a row it is a sentence.
struct Block {
  Sheet sheet;
  std::string why_empty;              ///< why there is no row; read only then
  std::vector<std::string> warnings;  ///< of this one alone
};

/// Tables one after the other.
struct Page {
  std::vector<Block> blocks;
  std::vector<std::string> warnings;  ///< of any of them
};

/// Warnings stand last in text and Markdown, and under each table in LaTeX, since there each travels alone into a
/// paper.
/// @pre format is text, markdown or latex
std::string page_as(const Page& page, Format format);

}  // namespace nkigrid::aggregate
