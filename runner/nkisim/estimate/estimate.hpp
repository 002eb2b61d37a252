#pragma once

#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

/// Latency estimate on one Trn1 NeuronCore [us]: M + 0.3 (S - M) with M = max and S = sum of DMA, PE, ACT and DVE busy
/// times.
/// @source docs/decisions/estimate.md
double estimate_us(const Program& program);

}  // namespace nkigrid::nkisim
