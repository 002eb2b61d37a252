#pragma once

#include <cstdint>

namespace nkigrid {

/// A counter-based stream of draws (Philox4x32-10, Salmon et al. 2011, from Random123), keyed by a keyed_hash().
/// Draw number i is a pure function of (key, i): streams need no state that would have to survive a restart.
class Draws {
 public:
  explicit Draws(std::uint64_t key) noexcept : key_(key) {}

  std::uint64_t bits() noexcept;                      ///< the next 64 bits
  double uniform() noexcept;                          ///< the next double in [0, 1), 53 bits
  std::uint64_t below(std::uint64_t bound) noexcept;  ///< the next integer in [0, bound), unbiased; bound > 0

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace nkigrid
