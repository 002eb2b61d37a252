#pragma once

#include <span>
#include <string>
#include <vector>

#include "runner/device/check/verdict.hpp"

namespace nkigrid::device {

/// What a mismatch looks like, in words for the model: nothing stored, all zero, a multiple of the reference, its
/// transpose, confined to a region, or of the size of a bfloat16 rounding. Empty when it looks like nothing in
/// particular.
/// @param output number of the output, for the text
std::vector<std::string> hints_for(std::size_t output, const TensorView& got, const TensorView& want,
                                   const TensorVerdict& verdict, const VerdictRules& rules);

}  // namespace nkigrid::device
