#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nkigrid::aggregate {

/// n independent draws from a finite distribution on the integers: what a sum is made of.
struct Summand {
  std::vector<std::int64_t> values;  ///< ascending, each once
  std::vector<double> weights;       ///< parallel to values, sum 1
  std::size_t n = 1;
};

/// The exact distribution of a sum of independent draws, held as its characteristic function on a finite circle:
/// phi(w)^n is a power of a number, where the masses would take a convolution. On a circle of N points that
/// leaves less than 1e-18 outside (Bernstein's bound) P(X <= x) is a finite sum over the few frequencies at
/// which phi is not negligible.
///
/// Probabilities are good to about 1e-14, absolutely.
/// @source inversion on a lattice: Feller, An Introduction to Probability Theory, vol. 2, XV.3; Bernstein's
/// inequality: Boucheron, Lugosi & Massart, Concentration Inequalities, 2.8
class CharacteristicSum {
 public:
  /// @pre summands is not empty; weights and values as said
  explicit CharacteristicSum(std::span<const Summand> summands);

  /// P(X <= point).
  double cumulated_at(std::int64_t point) const { return cumulated(reduced_floor(point)); }

 private:
  struct Kept {
    std::size_t k;
    std::complex<double> factor;  ///< phi(2 pi k/N) e^(-i w first)/(1 - e^(-i w)), times 2/N (1/N at k = N/2)
  };

  double cumulated(std::int64_t reduced) const;
  std::int64_t reduced_floor(std::int64_t point) const noexcept;

  std::int64_t offset_ = 0, step_ = 1;       ///< X = offset + step * U
  std::int64_t first_ = 0, size_ = 1;        ///< U lives on first .. first + size - 1
  std::vector<std::complex<double>> roots_;  ///< e^(2 pi i j/N), j = 0 .. N - 1
  std::vector<Kept> kept_;
};

}  // namespace nkigrid::aggregate
