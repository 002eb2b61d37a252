#include "runner/device/check/hints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/core.h>

namespace nkigrid::device {
namespace {

bool is_close(double got, double want, const VerdictRules& rules) {
  return std::abs(got - want) <= rules.atol + rules.rtol * std::abs(want);
}

/// Smallest box of indices that holds every mismatch.
struct Box {
  std::vector<std::int64_t> low, high;  // inclusive
};

Box box_of_mismatches(const TensorView& got, const TensorView& want, const TensorVerdict& verdict,
                      const VerdictRules& rules) {
  Box box{std::vector<std::int64_t>(want.shape.size(), std::numeric_limits<std::int64_t>::max()),
          std::vector<std::int64_t>(want.shape.size(), -1)};
  for (std::uint64_t i = verdict.first; i < verdict.elements; ++i) {
    if (is_close(element(got, i), element(want, i), rules)) continue;
    const auto index = index_of(i, want.shape);
    for (std::size_t d = 0; d < index.size(); ++d) {
      box.low[d] = std::min(box.low[d], index[d]);
      box.high[d] = std::max(box.high[d], index[d]);
    }
  }
  return box;
}

/// "all 300 mismatches lie in [128:256, :] of [256, 64]"; nothing when they are everywhere.
std::optional<std::string> region_hint(const TensorView& got, const TensorView& want, const TensorVerdict& verdict,
                                       const VerdictRules& rules) {
  const auto box = box_of_mismatches(got, want, verdict, rules);
  std::string region, whole;
  bool confined = false;
  for (std::size_t d = 0; d < want.shape.size(); ++d) {
    const bool full = box.low[d] == 0 && box.high[d] == want.shape[d] - 1;
    confined |= !full;
    region += fmt::format("{}{}", d > 0 ? ", " : "",
                          full ? std::string(":") : fmt::format("{}:{}", box.low[d], box.high[d] + 1));
    whole += fmt::format("{}{}", d > 0 ? ", " : "", want.shape[d]);
  }
  if (!confined) return std::nullopt;
  return fmt::format("all {} mismatches lie in [{}] of [{}]; the rest agrees", verdict.mismatches, region, whole);
}

/// True when the output holds the reference with its last two axes exchanged.
bool is_transposed(const TensorView& got, const TensorView& want, const VerdictRules& rules) {
  const auto rank = want.shape.size();
  if (rank < 2) return false;
  const auto rows = static_cast<std::uint64_t>(want.shape[rank - 2]),
             cols = static_cast<std::uint64_t>(want.shape[rank - 1]);
  const auto size = want.bytes.size() / (want.dtype == "uint8" ? 1 : 4);
  if (rows < 2 || cols < 2) return false;
  for (std::uint64_t i = 0; i < size; ++i) {
    const auto page = i / (rows * cols), inside = i % (rows * cols);
    // Element i of the output, read as [.., cols, rows], against the reference's [.., rows, cols].
    const auto transposed = page * rows * cols + inside % rows * cols + inside / rows;
    if (!is_close(element(got, i), element(want, transposed), rules)) return false;
  }
  return true;
}

/// The number c for which output = c * reference, when there is one.
std::optional<double> common_factor(const TensorView& got, const TensorView& want, const TensorVerdict& verdict) {
  double product = 0, squares = 0, output_squares = 0;
  for (std::uint64_t i = 0; i < verdict.elements; ++i) {
    const double g = element(got, i), w = element(want, i);
    if (!std::isfinite(g) || !std::isfinite(w)) return std::nullopt;
    product += g * w;
    squares += w * w;
    output_squares += g * g;
  }
  if (squares == 0 || output_squares == 0) return std::nullopt;
  const double factor = product / squares;
  const double rest = output_squares - factor * product;  // ||got - c want||^2
  return rest <= 1e-6 * output_squares ? std::optional(factor) : std::nullopt;
}

}  // namespace

std::vector<std::string> hints_for(std::size_t output, const TensorView& got, const TensorView& want,
                                   const TensorVerdict& verdict, const VerdictRules& rules) {
  std::vector<std::string> hints;
  if (verdict.mismatches == 0) return hints;
  const auto name = fmt::format("output {}: ", output);
  if (verdict.non_finite > 0)
    hints.push_back(fmt::format("{}{} of {} elements are NaN or infinite where the reference is finite", name,
                                verdict.non_finite, verdict.elements));
  if (!verdict.output_varies && element(got, 0) == 0) {
    hints.push_back(name + "every element is zero");
  } else if (!verdict.output_varies && verdict.reference_varies && verdict.non_finite == 0) {
    hints.push_back(fmt::format("{}every element is {}", name, element(got, 0)));
  } else if (is_transposed(got, want, rules)) {
    hints.push_back(name + "it is the reference with its last two axes exchanged");
  } else if (const auto factor = common_factor(got, want, verdict); factor && std::abs(*factor - 1) > 1e-3) {
    hints.push_back(fmt::format("{}it is {:.6g} times the reference", name, *factor));
  } else if (verdict.non_finite == 0 && verdict.rel_l2() < 0.02 && verdict.rel_l2() > 3e-4) {
    hints.push_back(
        fmt::format("{}relative error {:.1e}, about one bfloat16 rounding (2^-9 .. 2^-8): is something held or "
                    "multiplied in bfloat16?",
                    name, verdict.rel_l2()));
  }
  if (auto region = region_hint(got, want, verdict, rules)) hints.push_back(name + *region);
  return hints;
}

}  // namespace nkigrid::device
