#include "runner/nkisim/estimate/busy.hpp"

#include <algorithm>

namespace nkigrid::nkisim {
namespace {

constexpr double kPeGhz = 2.8, kActGhz = 1.4, kDveGhz = 1.12, kPoolGhz = 1.4;
constexpr double kMinCycles = 64, kActOverhead = 115, kDveOverhead = 60, kPoolOverhead = 60, kPoolSetup = 150;
constexpr double kDmaBytesPerUs = 272e3, kDmaLatencyUs = 2.0, kDmaRowBytes = 512, kDmaWorst = 8;
constexpr double kOverlap = 0.3;

double at_least(double cycles, double least = kMinCycles) { return std::max(least, cycles); }

/// The formulas of numbers.def, over the names that it promises them.
double cycles_of(const Head& head, const OperandFacts& operands) {
  const double n = operands.per_partition;
  const bool narrow = operands.all_narrow, psum = operands.any_psum, on_vector = head.engine == Engine::vector;
  switch (head.instr) {
#define INSTR(number, name, unit, cycles) \
  case Instr::name:                       \
    return cycles;
#include "runner/nkisim/numbers/numbers.def"
  }
  return 0;
}

}  // namespace

void Busy::tensor(double cycles, double times) { pe_ += times * cycles / (kPeGhz * 1e3); }
void Busy::scalar(double cycles, double times) { act_ += times * (cycles + kActOverhead) / (kActGhz * 1e3); }
void Busy::vector(double cycles, double times) { dve_ += times * (cycles + kDveOverhead) / (kDveGhz * 1e3); }
/// GpSimd shares its SBUF port with DVE: they take turns.
void Busy::gpsimd(double cycles, double times) { dve_ += times * (cycles + kPoolOverhead) / (kPoolGhz * 1e3); }
void Busy::vector_or_scalar(double cycles, double times) {
  free_on_dve_ += times * (cycles + kDveOverhead) / (kDveGhz * 1e3);
  free_on_act_ += times * (cycles + kActOverhead) / (kActGhz * 1e3);
}

void Busy::instruction(const Head& head, const OperandFacts& operands, double times) {
  const double cycles = cycles_of(head, operands);
  switch (unit_of(head.instr)) {
    case Unit::none:
    case Unit::dma:  // transfer() has the bytes
      return;
    case Unit::tensor:
      return tensor(cycles, times);
    case Unit::scalar:
      return scalar(cycles, times);
    case Unit::vector:
      return vector(cycles, times);
    case Unit::gpsimd:
      return gpsimd(cycles, times);
    case Unit::any:
      if (head.engine == Engine::scalar) return scalar(cycles, times);
      if (head.engine == Engine::vector) return vector(cycles, times);
      return head.engine == Engine::gpsimd ? gpsimd(cycles, times) : vector_or_scalar(cycles, times);
    case Unit::vector_or_gpsimd:
      return head.engine == Engine::gpsimd ? gpsimd(cycles, times) : vector(cycles, times);
    case Unit::tensor_or_vector:
      return head.engine == Engine::vector ? vector(cycles, times) : tensor(cycles, times);
  }
}

void Busy::matmul(double m, double n, bool is_float32, double times) {
  tensor(std::max(std::min(kMinCycles, m), n) * (is_float32 ? 4 : 1), times);
}

void Busy::transfer(double bytes, double row_bytes, double times) {
  // A short row costs as much as one of 512 bytes, up to what copies element by element cost.
  dma_ += times * std::min(bytes * std::max(1.0, kDmaRowBytes / row_bytes), bytes * kDmaWorst) / kDmaBytesPerUs;
}

void Busy::spill(double bytes, double times) { dma_ += times * 2 * bytes / kDmaBytesPerUs; }

double Busy::us() const {
  // The vendor's compiler deals free work out so that the busier of DVE and ACT is least; where a part p of it goes to
  // DVE, they are level at dve + p free_on_dve = act + (1 - p) free_on_act.
  double act = act_, dve = dve_;
  if (free_on_dve_ > 0) {
    const double part = (act_ + free_on_act_ - dve_) / (free_on_dve_ + free_on_act_);
    const double on_dve = std::clamp(part, 0.0, 1.0);
    dve += on_dve * free_on_dve_;
    act += (1 - on_dve) * free_on_act_;
  }
  const double sum = dma_ + pe_ + act + dve;
  const double most = std::max({dma_, pe_, act, dve});
  return most + kOverlap * (sum - most) + (dma_ > 0 ? kDmaLatencyUs : 0);
}

}  // namespace nkigrid::nkisim
