#pragma once

#include <cstdint>
#include <vector>

#include "runner/nkisim/diagnose/diagnose.hpp"
#include "runner/nkisim/diagnose/rerun.hpp"

/// Does the order of the trips of affine_range loops matter? Internal to the room.
namespace nkigrid::nkisim {

/// As compare_orders(), against the outputs of a run in order.
std::vector<OrderFinding> findings_of_orders(const Program& program, Reruns& reruns, const Outputs& forward,
                                             std::uint64_t seed);

}  // namespace nkigrid::nkisim
