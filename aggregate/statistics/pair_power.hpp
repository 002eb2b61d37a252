#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "aggregate/statistics/paired.hpp"

namespace nkigrid::aggregate {

/// How two cells pass: each task has a chance in either cell, Beta over tasks, and replicates are drawn from it.
struct PairChances {
  double rate = 0.2;  ///< of cell b; a has rate + difference, or - difference above one half
  double share_a = 1.0 / 3,
         share_b = 1.0 / 3;  ///< of an episode's variance between tasks: Beta's intraclass correlation
  double correlation =
      0.5;  ///< of the two chances: this share of tasks has the same quantile in both, or its mirror below 0
};

/// What is tested: n tasks, K replicates in either cell.
struct PairSize {
  std::uint32_t tasks = 0, replicates_a = 1, replicates_b = 1;
};

/// The power of the test that `pairs` prints. One replicate in both cells: that of McNemar's test, computed;
/// else the share of simulated grids whose sign-flip p reaches alpha. Grid d has a counter-based stream of its
/// own (Philox4x32-10) that is the same for every difference and on any number of threads; a smaller variance at a rate
/// near 0 or 1 comes with the Beta.
class PairPower {
 public:
  /// @param alphas two-sided, one or more @param draws grids to simulate @param kind which p value is tested
  PairPower(const PairChances& pair, const PairSize& size, std::vector<double> alphas, std::uint32_t draws,
            PValue kind = PValue::mid);

  /// Power for each alpha. @param difference >= 0; beyond most() it is that of most()
  const std::vector<double>& at(double difference);

  /// The smallest difference, to 0.05 points, with such a power at alphas[alpha]; none where not even most() has it.
  std::optional<double> smallest(std::size_t alpha, double power);

  double most() const noexcept;  ///< the largest difference that the rate leaves room for
  std::uint32_t draws() const noexcept { return is_exact() ? 0 : draws_; }  ///< 0: exact
  bool is_exact() const noexcept { return size_.replicates_a == 1 && size_.replicates_b == 1; }

  /// Share of tasks on which one replicate of either differs.
  double discordance(double difference) const;

 private:
  std::vector<double> simulated(double difference) const;

  PairChances pair_;
  PairSize size_;
  std::vector<double> alphas_;
  std::uint32_t draws_;
  PValue kind_;
  std::vector<std::uint64_t> keys_;              // of the draws' streams
  std::vector<double> chances_b_;                // quantiles of b's chances
  std::map<double, std::vector<double>> known_;  // difference -> powers
};

}  // namespace nkigrid::aggregate
