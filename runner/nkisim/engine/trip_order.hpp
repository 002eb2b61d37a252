#pragma once

#include <cstdint>
#include <numeric>
#include <optional>

namespace nkigrid::nkisim {

/// The order in which the trips of affine_range loops run; the language leaves it open. Internal to the room.
struct TripOrder {
  enum class Kind : std::uint8_t { forward, reversed, shuffled } kind = Kind::forward;
  std::uint64_t seed = 0;             ///< shuffled
  std::optional<std::uint32_t> only;  ///< this loop alone (its id); none: all affine loops

  bool moves(std::uint32_t loop) const { return kind != Kind::forward && (!only || *only == loop); }

  /// The trip that runs as the k-th of n: n - 1 - k, or (a k + b) mod n with a prime to n, so no table is kept. @pre 0
  /// <= k < n
  std::int64_t trip(std::int64_t k, std::int64_t n) const {
    if (kind == Kind::reversed) return n - 1 - k;
    auto a = static_cast<std::int64_t>((seed | 1) % static_cast<std::uint64_t>(n));
    while (std::gcd(a, n) != 1) ++a;
    const auto b = static_cast<std::int64_t>((seed >> 32) % static_cast<std::uint64_t>(n));
    return static_cast<std::int64_t>(
        (static_cast<__uint128_t>(a) * static_cast<__uint128_t>(k) + static_cast<__uint128_t>(b)) %
        static_cast<__uint128_t>(n));
  }
};

}  // namespace nkigrid::nkisim
