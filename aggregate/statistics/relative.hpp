#pragma once

#include <cstdint>
#include <optional>

#include "aggregate/statistics/combination.hpp"
#include "aggregate/statistics/drawn.hpp"

namespace nkigrid::aggregate {

/// Why a relative change has no interval. Few: at most five tasks, of which a resample may hold none.
enum class NoInterval { has_one, no_baseline_passes, few_baseline_passes, few_passes, few_differences, no_variation };

/// A change as a share of where it started from: value/baseline - 1, at least -1.
struct RelativeChange {
  std::optional<double> change;      ///< none where the baseline never passes
  std::optional<Interval> interval;  ///< bca-drawn; from counts: mover-r
  NoInterval reason = NoInterval::has_one;
};

/// The relative change of an effect whose positive coefficients are the value's and whose negative ones the baseline's:
/// a ratio of two sums over the same tasks, which has no lattice, so tasks are drawn jointly within levels and the
/// interval depends on `key` and the figures alone. No interval, with its reason, where at most five tasks have a pass
/// of the baseline, or of the value, or a difference. (With x such tasks of n a resample holds none with probability (1
/// - x/n)^n <= exp(-x): six bound it by 0.25 %, a tenth of a tail.)
RelativeChange relative_change(const Combination& effect, double confidence, std::uint64_t key,
                               const Drawing& drawing = {});

/// The same of two independent rates, as all that counts allow: square-and-add for a ratio over their Wilson intervals.
/// @source Donner & Zou 2012, Stat. Methods Med. Res. 21:347 (MOVER-R)
RelativeChange relative_change(double rate, double n, double baseline_rate, double baseline_n, double confidence);

}  // namespace nkigrid::aggregate
