#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/device/values.hpp"

namespace nkigrid::device {

/// A C-contiguous tensor of float32, int32 or uint8, by its bytes. @pre bytes.size() fits shape and dtype
struct TensorView {
  std::string_view dtype;
  std::span<const std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// What the comparison of one output with its reference found. Errors count non-finite output where the reference is
/// finite, and anything but equality where it is not, as infinite.
struct TensorVerdict {
  std::uint64_t elements = 0, mismatches = 0;
  std::uint64_t non_finite = 0;  ///< output NaN or infinite where the reference is finite
  std::uint64_t first = 0;       ///< flat index of the first mismatch; valid when mismatches > 0
  std::uint64_t worst =
      0;  ///< flat index of the mismatch with the largest error (non-finite above all); valid as `first`
  double worst_err = 0;
  double max_abs_err = 0;                                ///< over all elements
  double difference_squares = 0, reference_squares = 0;  ///< float64 sums over elements where both are finite
  bool output_varies = false, reference_varies = false;

  double rel_l2() const noexcept;  ///< Frobenius; infinite when non_finite or when only the reference is zero
};

/// Compares as torch.allclose(out, ref, rtol, atol) does: |out - ref| <= atol + rtol |ref|, equal infinities match, NaN
/// never. Sums in double. @pre same dtype and element count
/// @source torch.isclose, equal_nan = False
TensorVerdict compare(const TensorView& got, const TensorView& want, double atol, double rtol);

/// Element `flat` as a double.
double element(const TensorView& tensor, std::uint64_t flat);

/// Row-major index of a flat one.
std::vector<std::int64_t> index_of(std::uint64_t flat, std::span<const std::int64_t> shape);

/// "[3, 7] of output 0 is 0.5, the reference 1.25".
std::string describe(const Mismatch& mismatch);

/// One trial's outputs against their references.
struct TrialVerdict {
  bool paper_ok = false;
  bool strict_ok = false;  ///< of one trial: paper, finite, relative L2 under `rel_l2_limit`, not constant where the
                           ///< reference varies
  bool non_finite = false;
  double max_abs_err = 0, rel_l2 = 0;          ///< the worst output
  std::uint64_t elements = 0, mismatches = 0;  ///< over all outputs
  std::optional<Mismatch> first, worst;
  std::vector<TensorVerdict> outputs;
};

struct VerdictRules {
  double atol = 1e-3, rtol = 1e-3;
  double rel_l2_limit = 1e-4;  ///< 5e-3 where inputs are bfloat16
};

/// @pre got and want have the same count, dtypes and sizes
TrialVerdict compare_outputs(std::span<const TensorView> got, std::span<const TensorView> want,
                             const VerdictRules& rules);

/// ||a - b|| / ||b|| over all outputs: how far two draws of the reference lie apart.
double distance(std::span<const TensorView> a, std::span<const TensorView> b);

/// The limit of the strict rule for a task.
double rel_l2_limit_of(const jobs::Task& task);

}  // namespace nkigrid::device
