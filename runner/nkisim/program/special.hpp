#pragma once

#include <optional>
#include <vector>

#include "runner/nkisim/program/program.hpp"

namespace nkigrid::nkisim {

inline constexpr int kWholeShape = -1;

/// What a special operation takes: values a partition of each operand (or kWholeShape) and the number of attributes.
struct SpecialSignature {
  std::vector<int> sources, destinations;
  std::size_t attributes = 0;
  std::size_t optional_destinations = 0;  ///< how many of the last destinations may be missing
};

/// Nothing for the kinds that this version does not run.
std::optional<SpecialSignature> signature_of(Special kind);

}  // namespace nkigrid::nkisim
