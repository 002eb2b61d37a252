#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "aggregate/evidence/evidence.hpp"

namespace nkigrid::aggregate {

/// How an episode ended in the run named first and in one that is kept apart (`cell@run`): the same cell, task and
/// replicate, with `reverify` the same kernel.
struct EndingPair {
  std::size_t row = 0;  ///< index into Evidence::scores, of the cell that is kept apart
  std::uint32_t task = 0, stratum = 0;
  std::string before, after;  ///< pass, the error group of its kernel, or the outcome where it gave none
};

/// Those that are scored in both, in the order of the plan.
std::vector<EndingPair> make_ending_pairs(const Evidence& evidence);

/// Why there are none.
std::string why_no_ending_pairs(const Evidence& evidence);

}  // namespace nkigrid::aggregate
