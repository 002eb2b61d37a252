#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runner/nkisim/estimate/traffic.hpp"
#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/ranges.hpp"

/// What one run of an operation costs a NeuronCore. Constants and their sources: docs/decisions/estimate.md; an
/// instruction's cycles: numbers.def. Internal to the room.
namespace nkigrid::nkisim {

/// What works side by side: the DMA queues together, and the four engines.
enum class Lane : std::uint8_t { dma, tensor, scalar, vector, gpsimd };
inline constexpr std::size_t kLaneCount = 5;

constexpr std::size_t index_of(Lane lane) { return static_cast<std::size_t>(lane); }

inline constexpr double kDmaBytesPerUs = 272e3, kDmaLatencyUs = 2.0;

struct Cost {
  double dma_us = 0;
  Lane lane = Lane::vector;  ///< of the rest
  double us = 0;             ///< on it
  double us_on_scalar = 0;   ///< where scalar may take it in place of vector; 0: it may not
  double flops = 0;          ///< of a matmul
  double tensor_us = 0;      ///< what its flops need of the tensor engine at least
  Traffic traffic;
};

class CostModel {
 public:
  explicit CostModel(const Program& program) : program_(program), ranges_(program) {}

  Cost of(const Map& map) const;
  Cost of(const Fold& fold) const;
  Cost of(const Scan& scan) const;
  Cost of(const SpecialOp& special) const;
  Cost of(const Matmul& matmul) const;
  /// Of bringing an operand of one partition to those that an instruction reads it in.
  Cost of_repeating(const Head& head, const Access& operand) const;
  /// How often a branch is taken: conditions as if independent, their values as if spread evenly over their range.
  /// Nothing where that cannot be said of a value: then both sides are to be counted.
  std::optional<double> share_of(const std::vector<Condition>& conditions) const;

 private:
  bool is_spread(const Affine& affine) const;

  const Program& program_;
  Ranges ranges_;
};

}  // namespace nkigrid::nkisim
