#pragma once

#include <array>

#include "runner/nkisim/estimate/cost.hpp"
#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

/// Latency estimate on one Trn1 NeuronCore [us]: M + 0.3 (S - M) with M = max and S = sum of DMA, PE, ACT and DVE busy
/// times.
/// @source docs/decisions/estimate.md
double estimate_us(const Program& program);

/// What the estimate is made of.
struct Profile {
  double us = 0;                             ///< estimate_us()
  std::array<double, kLaneCount> busy_us{};  ///< by Lane
  Traffic traffic;                           ///< spills included
  double spilled_bytes = 0;                  ///< out and back
  double flops = 0;                          ///< of matmuls
  double roofline_us = 0;  ///< what flops and bytes to and from HBM would take with nothing else in the way
};
Profile profile_of(const Program& program);

}  // namespace nkigrid::nkisim
