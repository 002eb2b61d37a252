#pragma once

#include <cstdint>
#include <vector>

/// What find_index8 and match_replace8 share. Internal to the room.
namespace nkigrid::nkisim {

/// The place in `data` of each of `values`; -1 for none. A place serves one value: of equal values the i-th gets the
/// i-th place, as the hardware does it.
std::vector<std::int32_t> places_of(const std::vector<float>& values, const std::vector<float>& data);

}  // namespace nkigrid::nkisim
