#pragma once

#include <string>
#include <vector>

#include "jobs/forecast/simulation.hpp"

namespace nkigrid::jobs {

/// Values to try; an empty list: the grid's own.
struct LayoutChoices {
  std::vector<std::uint32_t> shards, throttles, ranks_per_node, lanes;
  bool given() const noexcept {
    return !(shards.empty() && throttles.empty() && ranks_per_node.empty() && lanes.empty());
  }
};

/// The layouts worth a look, the grid's own first, none twice: every combination of the choices, or, where none is
/// given, the grid's own with a quarter to four times the shards, with its shards folded into half as many elements of
/// twice the nodes, and with half and twice the lanes.
std::vector<Layout> layouts_to_try(const Layout& own, const LayoutChoices& choices);

struct LayoutResult {
  Layout layout;
  SimulatedRun run;
};

struct Recommendation {
  std::size_t index = 0;  ///< into the results
  std::string reason;
};

/// Of the layouts that end inside the time limit and within `slack` of the fastest of these, the one with fewest node
/// seconds; ties go to the earlier one. Where none ends in time, the one with the shortest element.
/// @param limit of an element [s]
Recommendation recommend(const std::vector<LayoutResult>& results, double limit, double slack = 0.05);

}  // namespace nkigrid::jobs
