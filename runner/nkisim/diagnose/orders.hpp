#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runner/nkisim/diagnose/rerun.hpp"
#include "runner/nkisim/engine/run.hpp"

/// Does the order of the trips of affine_range loops matter?
namespace nkigrid::nkisim {

/// What another order of the trips of affine_range loops changes.
struct OrderFinding {
  std::uint32_t line = 0;    ///< of the loop; 0: no loop alone
  std::string loop;          ///< its variable
  bool is_rounding = false;  ///< no more than a sum in another order may change
  std::string text;
};

/// Runs the program with all affine_range loops reversed and shuffled by `seed`, and, where an output byte changes,
/// with each loop alone. sequential_range loops keep their order. Empty: every order gave the same bytes. @throws as
/// run_program()
std::vector<OrderFinding> compare_orders(const Program& program, std::span<const std::span<const std::byte>> inputs,
                                         const Poison& poison, std::uint64_t seed, const RunLimits& limits = {});

/// As compare_orders(), against the outputs of a run in order. Internal to the room.
std::vector<OrderFinding> findings_of_orders(const Program& program, Reruns& reruns, const Outputs& forward,
                                             std::uint64_t seed);

}  // namespace nkigrid::nkisim
