#include "runner/device/check/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"

namespace nkigrid::device {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

template <class T>
T load(std::span<const std::byte> bytes, std::uint64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

/// Calls `use` with a value of the tensor's element type.
template <class Use>
auto with_type(std::string_view dtype, Use&& use) {
  if (dtype == "float32") return use(float{});
  if (dtype == "int32") return use(std::int32_t{});
  if (dtype == "uint8") return use(std::uint8_t{});
  throw Error(ErrorCode::internal, "an output has a dtype that the harness never lets through");
}

template <class T>
TensorVerdict compare_as(std::span<const std::byte> got, std::span<const std::byte> want, double atol, double rtol) {
  TensorVerdict verdict;
  verdict.elements = want.size() / sizeof(T);
  if (verdict.elements == 0) return verdict;
  verdict.worst_err = -1;
  const T first_got = load<T>(got, 0), first_want = load<T>(want, 0);
  for (std::uint64_t i = 0; i < verdict.elements; ++i) {
    const T g = load<T>(got, i), w = load<T>(want, i);
    verdict.output_varies |= g != first_got;
    verdict.reference_varies |= w != first_want;
    const double out = static_cast<double>(g), ref = static_cast<double>(w);
    double error = std::abs(out - ref);
    if (std::isfinite(error)) {
      verdict.difference_squares += error * error;
      verdict.reference_squares += ref * ref;
      verdict.max_abs_err = std::max(verdict.max_abs_err, error);
      if (error <= atol + rtol * std::abs(ref)) continue;
    } else {
      if (out == ref) continue;  // equal infinities
      verdict.max_abs_err = error = kInfinite;
      verdict.non_finite += std::isfinite(ref) ? 1 : 0;
    }
    if (verdict.mismatches++ == 0) verdict.first = i;
    if (error > verdict.worst_err) verdict.worst = i, verdict.worst_err = error;
  }
  return verdict;
}

}  // namespace

double TensorVerdict::rel_l2() const noexcept {
  if (std::isinf(max_abs_err)) return kInfinite;
  if (reference_squares == 0) return difference_squares == 0 ? 0 : kInfinite;
  return std::sqrt(difference_squares / reference_squares);
}

TensorVerdict compare(const TensorView& got, const TensorView& want, double atol, double rtol) {
  if (got.bytes.size() != want.bytes.size() || got.dtype != want.dtype)
    throw Error(ErrorCode::internal, "compared tensors differ in size or dtype");
  return with_type(want.dtype,
                   [&](auto type) { return compare_as<decltype(type)>(got.bytes, want.bytes, atol, rtol); });
}

double element(const TensorView& tensor, std::uint64_t flat) {
  return with_type(tensor.dtype,
                   [&](auto type) { return static_cast<double>(load<decltype(type)>(tensor.bytes, flat)); });
}

std::vector<std::int64_t> index_of(std::uint64_t flat, std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(std::max<std::int64_t>(shape[d], 1));
    index[d] = static_cast<std::int64_t>(flat % extent);
    flat /= extent;
  }
  return index;
}

std::string describe(const Mismatch& mismatch) {
  return fmt::format("[{}] of output {} is {:.6g}, the reference {:.6g}", fmt::join(mismatch.index, ", "),
                     mismatch.output, mismatch.got, mismatch.want);
}

TrialVerdict compare_outputs(std::span<const TensorView> got, std::span<const TensorView> want,
                             const VerdictRules& rules) {
  TrialVerdict trial;
  double worst_err = -1;
  trial.paper_ok = trial.strict_ok = true;
  for (std::size_t i = 0; i < want.size(); ++i) {
    auto verdict = compare(got[i], want[i], rules.atol, rules.rtol);
    trial.max_abs_err = std::max(trial.max_abs_err, verdict.max_abs_err);
    trial.rel_l2 = std::max(trial.rel_l2, verdict.rel_l2());
    trial.non_finite |= verdict.non_finite > 0;
    trial.elements += verdict.elements;
    trial.mismatches += verdict.mismatches;
    if (verdict.mismatches > 0) {
      trial.paper_ok = false;
      const auto at = [&](std::uint64_t flat) {
        return Mismatch{static_cast<std::uint32_t>(i), index_of(flat, want[i].shape), element(got[i], flat),
                        element(want[i], flat)};
      };
      if (!trial.first) trial.first = at(verdict.first);
      if (verdict.worst_err > worst_err) trial.worst = at(verdict.worst), worst_err = verdict.worst_err;
    }
    if (verdict.reference_varies && !verdict.output_varies) trial.strict_ok = false;
    trial.outputs.push_back(verdict);
  }
  trial.strict_ok = trial.strict_ok && trial.paper_ok && trial.rel_l2 <= rules.rel_l2_limit;
  return trial;
}

double distance(std::span<const TensorView> a, std::span<const TensorView> b) {
  double worst = 0;
  for (std::size_t i = 0; i < b.size(); ++i) worst = std::max(worst, compare(a[i], b[i], 0, 0).rel_l2());
  return worst;
}

double rel_l2_limit_of(const jobs::Task& task) {
  const bool low = std::any_of(task.inputs.begin(), task.inputs.end(),
                               [](const jobs::TensorSpec& input) { return input.dtype == "bfloat16"; });
  return low ? 5e-3 : 1e-4;
}

}  // namespace nkigrid::device
