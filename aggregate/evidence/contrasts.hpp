#pragma once

#include <cstdint>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "jobs/plan.hpp"

namespace nkigrid::aggregate {

/// Two cells that a contrast compares, by their place in a plan.
struct ComparedCells {
  const jobs::Contrast* contrast = nullptr;
  std::uint32_t a = 0, b = 0;
};

/// For each contrast every two cells of one run that match its sides and agree in all factors that it leaves
/// alone.
std::vector<ComparedCells> compared_cells(const jobs::Grid& grid, const std::vector<jobs::CellSpec>& cells);

}  // namespace nkigrid::aggregate
