#include "runner/nkisim/estimate/busy.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nkigrid::nkisim {
namespace {

constexpr double kOverlap = 0.3;

}  // namespace

void Busy::add(const Cost& cost, double times) {
  us_[index_of(Lane::dma)] += times * cost.dma_us;
  if (cost.us_on_scalar > 0) {
    free_on_vector_ += times * cost.us;
    free_on_scalar_ += times * cost.us_on_scalar;
  } else {
    us_[index_of(cost.lane)] += times * cost.us;
  }
  flops_ += times * cost.flops;
  tensor_us_ += times * cost.tensor_us;
  traffic_ += times * cost.traffic;
}

void Busy::spill(double saved, double restored, double times) {
  us_[index_of(Lane::dma)] += times * (saved + restored) / kDmaBytesPerUs;
  traffic_.hbm_written += times * saved;
  traffic_.sbuf_read += times * saved;
  traffic_.hbm_read += times * restored;
  traffic_.sbuf_written += times * restored;
  spilled_ += times * (saved + restored);
}

void Busy::reload(double bytes, double times) {
  us_[index_of(Lane::dma)] += times * bytes / kDmaBytesPerUs;
  traffic_.hbm_read += times * bytes;
  traffic_.sbuf_written += times * bytes;
}

std::array<double, kLaneCount> Busy::us_by_lane() const {
  // The vendor's compiler deals free work out so that the busier of DVE and ACT is least; where a part p of it goes to
  // DVE, they are level at dve + p free_on_dve = act + (1 - p) free_on_act. GpSimd takes turns with DVE.
  std::array<double, kLaneCount> us = us_;
  double &act = us[index_of(Lane::scalar)], &dve = us[index_of(Lane::vector)];
  if (free_on_vector_ > 0) {
    const double on_port = dve + us[index_of(Lane::gpsimd)];
    const double part = std::clamp((act + free_on_scalar_ - on_port) / (free_on_vector_ + free_on_scalar_), 0.0, 1.0);
    dve += part * free_on_vector_;
    act += (1 - part) * free_on_scalar_;
  }
  return us;
}

double Busy::us() const {
  std::array<double, kLaneCount> us = us_by_lane();
  // GpSimd shares its SBUF port with DVE: they take turns.
  us[index_of(Lane::vector)] += std::exchange(us[index_of(Lane::gpsimd)], 0.0);
  const double sum = std::accumulate(us.begin(), us.end(), 0.0), most = *std::max_element(us.begin(), us.end());
  return most + kOverlap * (sum - most) + (us[index_of(Lane::dma)] > 0 ? kDmaLatencyUs : 0);
}

double Busy::roofline_us() const {
  return std::max(tensor_us_, (traffic_.hbm_read + traffic_.hbm_written) / kDmaBytesPerUs);
}

}  // namespace nkigrid::nkisim
