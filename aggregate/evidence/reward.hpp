#pragma once

#include <cstdint>
#include <string_view>

#include "runner/log/records.hpp"

namespace nkigrid::aggregate {

/// What reinforcement learning would be given for an episode's final kernel (docs/decisions/rewards.md).
struct Reward {
  double binary = 0;    ///< the paper's: +1.0 for a pass, -0.5 for anything else
  double graded = 0;    ///< -0.5 + 1.5 (stages / 2 + elements / 4 + speed / 4); NaN where a part is not known
  double stages = 0;    ///< the share of the five steps that the kernel came through
  double elements = 0;  ///< the share of output elements that match; NaN where the log does not say
  double speed = 0;     ///< of a pass: the roofline over its estimate, at most 1; NaN without an estimate or a roofline
};

/// @param end of a scored episode or attempt, by the paper's rule; of any other every part is NaN
/// @param findings what its final check found, JSON (docs/formats/segment.md)
/// @param roofline_us no kernel of the task is faster; 0: not known
/// @source arXiv 2607.04395, section 3.4 (binary); the graded one is ours
Reward reward_of(const log::End& end, std::string_view findings, double roofline_us);

}  // namespace nkigrid::aggregate
