#pragma once

#include "runner/nkisim/program/program.hpp"

/// The busy times of a NeuronCore's engines, from which the latency estimate is made. Constants and their sources:
/// docs/decisions/estimate.md; an instruction's cycles: numbers.def. Internal to the room.
namespace nkigrid::nkisim {

/// What the formulas of numbers.def want to know of an operation's operands.
struct OperandFacts {
  double per_partition = 1;  ///< n
  bool all_narrow = true;    ///< every on-chip operand is bf16 or fp16
  bool any_psum = false;
};

/// Adds up; `times` says how often a thing happens.
class Busy {
 public:
  void instruction(const Head& head, const OperandFacts& operands, double times);
  /// @param m columns of the stationary side @param n of the moving side
  void matmul(double m, double n, bool is_float32, double times);
  /// @param row_bytes that lie together on both sides
  void transfer(double bytes, double row_bytes, double times);
  /// Bytes that go out to HBM and come back.
  void spill(double bytes, double times);

  /// The whole [us]: the busiest engine, and the part of the others' time that does not hide behind it.
  double us() const;

 private:
  void tensor(double cycles, double times);
  void scalar(double cycles, double times);
  void vector(double cycles, double times);
  void gpsimd(double cycles, double times);
  void vector_or_scalar(double cycles, double times);

  double dma_ = 0, pe_ = 0, act_ = 0, dve_ = 0;  ///< [us]
  double free_on_dve_ = 0, free_on_act_ = 0;     ///< work that may go to either: its cost there
};

}  // namespace nkigrid::nkisim
