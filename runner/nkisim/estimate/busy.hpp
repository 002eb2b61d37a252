#pragma once

#include <array>

#include "runner/nkisim/estimate/cost.hpp"

/// The busy times of a NeuronCore's engines, from which the latency estimate is made. Internal to the room.
namespace nkigrid::nkisim {

/// Adds up; `times` says how often a thing happens.
class Busy {
 public:
  void add(const Cost& cost, double times);
  /// Bytes that go out to HBM, and bytes of them that come back.
  void spill(double saved, double restored, double times);
  /// Bytes that are loaded once more.
  void reload(double bytes, double times);

  /// By lane [us], work that two engines may take dealt out.
  std::array<double, kLaneCount> us_by_lane() const;
  /// The whole [us]: the busiest engine, and the part of the others' time that does not hide behind it.
  double us() const;
  const Traffic& traffic() const { return traffic_; }
  double spilled_bytes() const { return spilled_; }
  double flops() const { return flops_; }
  /// What the flops and the bytes to and from HBM need at least [us].
  double roofline_us() const;

 private:
  std::array<double, kLaneCount> us_{};
  double free_on_vector_ = 0, free_on_scalar_ = 0;  ///< work that may go to either: its cost there [us]
  Traffic traffic_;
  double spilled_ = 0, flops_ = 0, tensor_us_ = 0;
};

}  // namespace nkigrid::nkisim
