#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/model/synthetic/faults.hpp"
#include "runner/model/synthetic/feedback.hpp"
#include "runner/model/synthetic/profile.hpp"

namespace nkigrid::model {

/// Where the synthetic model's draws come from: each is keyed by what it is for and the turn.
struct SyntheticKey {
  std::string profile_hash, seed, task;

  double chance(std::string_view what, std::size_t turn, std::string_view which = "") const;  ///< uniform in [0, 1)
  std::uint64_t bits(std::string_view what, std::size_t turn, std::string_view which = "") const;
};

/// A fault in the current kernel and the place where it sits.
struct Planted {
  const Fault* fault = nullptr;
  std::uint64_t pick = 0;
};

/// What the synthetic model has on its mind before a reply.
struct SyntheticState {
  std::vector<Planted> planted;        ///< in the catalogue's order
  std::vector<const Fault*> repaired;  ///< since the last reply
  bool over_reacted = false;           ///< a warning made it change a kernel that compiles
  Feedback feedback;                   ///< to the last reply
};

/// The known kernel with every planted fault that still has a hold.
std::string broken_kernel(std::string_view known, const std::vector<Planted>& planted);

/// The state before the first reply. @param tools whether tools are on offer
SyntheticState first_state(const Profile& profile, const LevelProfile& level, const SyntheticKey& key,
                           std::string_view known, bool tools);

/// The state after the answers to reply number `turn` (from 1).
void take_feedback(const Profile& profile, const LevelProfile& level, const SyntheticKey& key, std::string_view known,
                   std::size_t turn, const Feedback& feedback, SyntheticState& state);

}  // namespace nkigrid::model
