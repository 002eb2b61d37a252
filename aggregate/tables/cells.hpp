#pragma once

#include <string>
#include <vector>

#include "aggregate/tables/rate.hpp"

namespace nkigrid::aggregate {

/// The rate of a level or of a category of a cell.
struct PartRate {
  std::string name;
  Rate rate;
};

struct CellRow {
  std::string cell, model, mode, prompt;
  std::string subset;  ///< empty when unnamed
  Rate total;
  std::vector<PartRate> levels, categories;  ///< sorted; of counts no categories, and levels where they are printed
  std::string printed = {};  ///< of counts: the percentage that was printed elsewhere, as written; empty: none
  bool printed_fits = true;  ///< false when it is not this rate at its own precision
};

/// In the order of the grid, or of the counts file.
std::vector<CellRow> make_cells(const Evidence& evidence);

}  // namespace nkigrid::aggregate
