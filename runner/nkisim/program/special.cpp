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

std::string_view to_string(Special kind) noexcept {
  constexpr std::string_view kNames[] = {"bn_stats",       "bn_aggr",      "max8",   "find_index8", "match_replace8",
                                         "stream_shuffle", "local_gather", "random", "print"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace nkigrid::nkisim
