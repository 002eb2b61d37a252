#include "runner/device/check/verdict.hpp"

#include <algorithm>
#include <array>
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

constexpr std::size_t kLanes = 8, kBlock = 32 * kLanes;

/// Two doubles in one register, which every x86-64 and ARM has: GCC 12 leaves the same loop over doubles scalar, more
/// than twice as slow.
using Pair = double __attribute__((vector_size(16)));
using PairBits = long long __attribute__((vector_size(16)));

Pair magnitude(Pair x) { return reinterpret_cast<Pair>(reinterpret_cast<PairBits>(x) & 0x7fff'ffff'ffff'ffffLL); }

/// What sums up elements that all match. Lane k has every kLanes-th element, so that the sums are the same whatever
/// vectors the machine has.
struct Sums {
  std::array<double, kLanes> difference{}, reference{}, largest{};

  /// Adds a block. @returns whether all of it matches; if not, the sums are of no use any more
  template <class T>
  bool add(const T* got, const T* want, double atol, double rtol) {
    const auto two = [](const T* at) { return Pair{static_cast<double>(at[0]), static_cast<double>(at[1])}; };
    PairBits off{};
    for (std::size_t k = 0; k < kLanes; k += 2) {
      Pair d{difference[k], difference[k + 1]}, r{reference[k], reference[k + 1]}, most{largest[k], largest[k + 1]};
      for (std::size_t i = k; i < kBlock; i += kLanes) {
        const Pair ref = two(want + i), error = magnitude(two(got + i) - ref);
        d += error * error;
        r += ref * ref;
        most = most < error ? error : most;
        off |= ~(error - (atol + rtol * magnitude(ref)) <= 0.0);  // NaN where neither is finite
      }
      difference[k] = d[0], difference[k + 1] = d[1];
      reference[k] = r[0], reference[k + 1] = r[1];
      largest[k] = most[0], largest[k + 1] = most[1];
    }
    return (off[0] | off[1]) == 0;
  }
};

/// Elements [from, to) that may or may not match, one at a time.
template <class T>
void compare_each(std::span<const std::byte> got, std::span<const std::byte> want, std::uint64_t from, std::uint64_t to,
                  double atol, double rtol, TensorVerdict& verdict) {
  for (std::uint64_t i = from; i < to; ++i) {
    const double out = static_cast<double>(load<T>(got, i)), ref = static_cast<double>(load<T>(want, i));
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
}

/// Is any element another number than the first? NaN is another one than itself.
template <class T>
bool varies(std::span<const std::byte> bytes) {
  const T first = load<T>(bytes, 0);
  for (std::uint64_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    if (load<T>(bytes, i) != first) return true;
  }
  return false;
}

template <class T>
TensorVerdict compare_as(std::span<const std::byte> got, std::span<const std::byte> want, double atol, double rtol) {
  TensorVerdict verdict;
  verdict.elements = want.size() / sizeof(T);
  if (verdict.elements == 0) return verdict;
  verdict.worst_err = -1;
  verdict.output_varies = varies<T>(got);
  verdict.reference_varies = varies<T>(want);
  Sums sums;
  for (std::uint64_t at = 0; at < verdict.elements; at += kBlock) {
    const std::uint64_t end = std::min<std::uint64_t>(at + kBlock, verdict.elements);
    std::array<T, kBlock> g, w;
    Sums with = sums;
    const bool whole = end - at == kBlock;
    if (whole) {
      std::memcpy(g.data(), got.data() + at * sizeof(T), sizeof g);
      std::memcpy(w.data(), want.data() + at * sizeof(T), sizeof w);
    }
    if (whole && with.add(g.data(), w.data(), atol, rtol)) {
      sums = with;
    } else {
      compare_each<T>(got, want, at, end, atol, rtol, verdict);
    }
  }
  for (std::size_t k = 0; k < kLanes; ++k) {
    verdict.difference_squares += sums.difference[k];
    verdict.reference_squares += sums.reference[k];
    verdict.max_abs_err = std::max(verdict.max_abs_err, sums.largest[k]);
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
