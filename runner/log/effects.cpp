#include "runner/log/effects.hpp"

#include <algorithm>
#include <cmath>

namespace nkigrid::log {
namespace {

constexpr double kHuber = 1.345;         ///< 95 % efficient where tails are normal (Huber 1964)
constexpr double kMadToSigma = 1.4826;   ///< of a normal
constexpr double kLeastVariance = 1e-8;  ///< keeps ratios finite: an effect below 0.01 % is none
constexpr int kReweightings = 4, kSteps = 60;

/// Weights and weighted sums of y by group: all that the effects need to know of the observations.
struct Sums {
  std::vector<double> weight, y;
  double squares = 0, total = 0;
};

Sums sum_up(const EffectData& data, const std::vector<double>& weights) {
  Sums sums{std::vector<double>(data.groups.size()), std::vector<double>(data.groups.size())};
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    sums.weight[data.group[i]] += weights[i];
    sums.y[data.group[i]] += weights[i] * data.y[i];
    sums.squares += weights[i] * data.y[i] * data.y[i];
    sums.total += weights[i];
  }
  return sums;
}

class Solver {
 public:
  explicit Solver(const EffectData& data) : data_(data), fitted_(data.groups.size()) {
    for (std::size_t f = 0; f < kFactors; ++f) {
      fit_.effects[f].assign(data.sizes[f], 0.0);
      fit_.variances[f] = 0.1;
    }
    fit_.noise_variance = 0.1;
  }

  /// Sweeps effects and variances to their joint fixed point for these weights.
  void solve(const Sums& sums) {
    for (int step = 0; step < kSteps; ++step) {
      double moved = update_common(sums);
      double parameters = 1;
      for (std::size_t f = 0; f < kFactors; ++f) moved = std::max(moved, update_factor(f, sums, parameters));
      update_noise(sums, parameters);
      if (moved < 1e-7) break;
    }
  }

  std::vector<double> residuals() const {
    std::vector<double> residuals(data_.y.size());
    for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] = data_.y[i] - fitted_[data_.group[i]];
    return residuals;
  }
  EffectFit& fit() { return fit_; }

 private:
  double update_common(const Sums& sums) {
    double rest = 0;
    for (std::size_t g = 0; g < fitted_.size(); ++g) rest += sums.y[g] - sums.weight[g] * fitted_[g];
    const double by = rest / std::max(sums.total, 1e-300);
    fit_.common += by;
    for (auto& value : fitted_) value += by;
    return std::abs(by);
  }

  double update_factor(std::size_t f, const Sums& sums, double& parameters) {
    auto& effects = fit_.effects[f];
    std::vector<double> weight(effects.size()), rest(effects.size());
    for (std::size_t g = 0; g < fitted_.size(); ++g) {
      const auto j = data_.groups[g].at[f];
      weight[j] += sums.weight[g];
      rest[j] += sums.y[g] - sums.weight[g] * (fitted_[g] - effects[j]);
    }
    const double ratio = fit_.noise_variance / fit_.variances[f];
    std::vector<double> by(effects.size());
    double moved = 0, squares = 0, used = 0;
    for (std::size_t j = 0; j < effects.size(); ++j) {
      const double effect = rest[j] / (weight[j] + ratio);
      by[j] = effect - effects[j];
      moved = std::max(moved, std::abs(by[j]));
      effects[j] = effect;
      squares += effect * effect;
      used += weight[j] / (weight[j] + ratio);  // effective parameters of this factor (Schall's q - v)
    }
    for (std::size_t g = 0; g < fitted_.size(); ++g) fitted_[g] += by[data_.groups[g].at[f]];
    fit_.variances[f] = std::max(kLeastVariance, used > 1e-9 ? squares / used : 0.0);
    parameters += used;
    return moved;
  }

  void update_noise(const Sums& sums, double parameters) {
    double squares = sums.squares;
    for (std::size_t g = 0; g < fitted_.size(); ++g)
      squares += fitted_[g] * (sums.weight[g] * fitted_[g] - 2 * sums.y[g]);
    const double freedom = std::max(sums.total - parameters, 0.1 * sums.total);
    fit_.noise_variance = std::max(kLeastVariance, squares / std::max(freedom, 1e-300));
  }

  const EffectData& data_;
  EffectFit fit_;
  std::vector<double> fitted_;  ///< common and effects, by group
};

double mad_sigma(std::vector<double> residuals) {
  for (auto& r : residuals) r = std::abs(r);
  const auto middle = residuals.begin() + static_cast<std::ptrdiff_t>(residuals.size() / 2);
  std::nth_element(residuals.begin(), middle, residuals.end());
  return kMadToSigma * *middle;
}

}  // namespace

EffectFit fit_effects(const EffectData& data) {
  Solver solver(data);
  std::vector<double> weights(data.y.size(), 1.0);
  for (int round = 0; round < kReweightings; ++round) {
    solver.solve(sum_up(data, weights));
    auto residuals = solver.residuals();
    const double limit = kHuber * std::max(mad_sigma(residuals), 1e-4);
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = std::abs(residuals[i]) <= limit ? 1.0 : limit / std::abs(residuals[i]);
    solver.fit().residuals = std::move(residuals);
  }
  return std::move(solver.fit());
}

}  // namespace nkigrid::log
