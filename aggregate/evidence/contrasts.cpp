#include "aggregate/evidence/contrasts.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "aggregate/evidence/factors.hpp"

namespace nkigrid::aggregate {
namespace {

using Side = std::map<std::string, std::string>;

bool matches(const jobs::CellSpec& cell, const Side& side) {
  return std::all_of(side.begin(), side.end(),
                     [&](const auto& wanted) { return factor_value(cell, wanted.first) == wanted.second; });
}

// A factor that only one side names, or none, must be equal in both cells.
bool agree_elsewhere(const jobs::CellSpec& a, const jobs::CellSpec& b, const jobs::Contrast& contrast) {
  return run_of(a.id) == run_of(b.id) &&
         std::all_of(std::begin(kFactors), std::end(kFactors), [&](const std::string factor) {
           return (contrast.a.contains(factor) && contrast.b.contains(factor)) ||
                  factor_value(a, factor) == factor_value(b, factor);
         });
}

}  // namespace

std::vector<ComparedCells> compared_cells(const jobs::Grid& grid, const std::vector<jobs::CellSpec>& cells) {
  std::vector<ComparedCells> pairs;
  for (const auto& contrast : grid.contrasts) {
    for (std::uint32_t a = 0; a < cells.size(); ++a) {
      if (!matches(cells[a], contrast.a)) continue;
      for (std::uint32_t b = 0; b < cells.size(); ++b) {
        if (a != b && matches(cells[b], contrast.b) && agree_elsewhere(cells[a], cells[b], contrast))
          pairs.push_back({&contrast, a, b});
      }
    }
  }
  return pairs;
}

}  // namespace nkigrid::aggregate
