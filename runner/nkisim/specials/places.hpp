#pragma once

#include <cstdint>
#include <vector>

/// What find_index8 and match_replace8 share. Internal to the room.
namespace nkigrid::nkisim {

/// The place in `data` of the first element that equals each of `values`; -1 for none.
/// @param once a place serves one value only
std::vector<std::int32_t> places_of(const std::vector<float>& values, const std::vector<float>& data, bool once);

}  // namespace nkigrid::nkisim
