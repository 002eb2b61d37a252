#pragma once

#include <array>
#include <cstdint>
#include <vector>

/// Crossed random effects on a log scale: the arithmetic under fit_costs().
namespace nkigrid::log {

inline constexpr std::size_t kFactors = 5;  ///< model, mode, cell, level, task

/// Observations that share all factors are one group.
struct EffectGroup {
  std::array<std::uint32_t, kFactors> at{};  ///< index within each factor
};

struct EffectData {
  std::vector<EffectGroup> groups;
  std::array<std::uint32_t, kFactors> sizes{};  ///< names of each factor
  std::vector<std::uint32_t> group;             ///< of each observation
  std::vector<double> y;                        ///< of each observation
};

struct EffectFit {
  double common = 0;
  std::array<std::vector<double>, kFactors> effects;
  std::vector<double> residuals;  ///< of each observation, unweighted
  double noise_variance = 0;
  std::array<double, kFactors> variances{};
};

/// Fits y = common + sum of effects + noise; see fit_costs() for the method and its sources. Deterministic; time is
/// linear in observations (a few passes) and in groups (a few hundred).
EffectFit fit_effects(const EffectData& data);

}  // namespace nkigrid::log
