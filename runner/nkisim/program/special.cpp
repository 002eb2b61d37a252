#include "runner/nkisim/program/special.hpp"

namespace nkigrid::nkisim {

std::optional<SpecialSignature> signature_of(Special kind) {
  switch (kind) {
    case Special::bn_stats:
      return SpecialSignature{{kWholeShape}, {6}, 0, 0};
    case Special::bn_aggr:
      return SpecialSignature{{kWholeShape}, {2}, 0, 0};
    case Special::max8:
      return SpecialSignature{{kWholeShape}, {8}, 0, 0};
    case Special::find_index8:
      return SpecialSignature{{kWholeShape, 8}, {8}, 0, 0};
    case Special::match_replace8:
      return SpecialSignature{{kWholeShape, 8}, {kWholeShape, 8}, 1, 1};
    case Special::stream_shuffle:
      return SpecialSignature{{kWholeShape}, {kWholeShape}, 32, 0};
    default:
      return std::nullopt;
  }
}

}  // namespace nkigrid::nkisim
