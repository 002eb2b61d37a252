#include "runner/nkisim/diagnose/rerun.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runner/nkisim/engine/rows.hpp"
#include "runner/nkisim/program/ranges.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr double kMatmulShare = 1.0 / 64;  // BLAS against an elementwise pass
constexpr double kSlowShare = 8;           // a scan or a special, value by value
constexpr double kObservedShare = 4;       // an observed run against a plain one
constexpr double kOperation = 500;         // elements that the start of an operation is worth
constexpr double kBudget = 1.2e10;         // some ten seconds on one core

double points(const Head& head) {
  double result = 1;
  for (const std::int64_t extent : head.shape) result *= static_cast<double>(extent);
  return result + kOperation;
}

double work_of(const Map& map) { return points(map.head) * static_cast<double>(1 + map.steps.size()); }
double work_of(const Fold& fold) { return points(fold.head) * static_cast<double>(1 + fold.steps.size()); }
double work_of(const Matmul& matmul) { return points(matmul.head) * kMatmulShare; }
double work_of(const Scan& scan) { return points(scan.head) * kSlowShare; }
double work_of(const SpecialOp& special) { return points(special.head) * kSlowShare; }
double work_of(const Alloc&) { return 0; }
double work_of(const Block& block);
double work_of(const Loop& loop) { return static_cast<double>(loop.trips) * work_of(loop.body); }
double work_of(const If& branch) { return work_of(branch.then_body) + work_of(branch.else_body); }
double work_of(const Block& block) {
  double sum = 0;
  for (const Node& node : block) sum += std::visit([](const auto& what) { return work_of(what); }, node.what);
  return sum;
}

double element(Dtype dtype, const std::byte* at) {
  if (is_float(dtype)) {
    float value = 0;
    row_kernels().load_f32(dtype, at, 0, 1, &value);
    return static_cast<double>(value);
  }
  std::int32_t value = 0;
  row_kernels().load_i32(dtype, at, 0, 1, &value);
  return static_cast<double>(value);
}

bool same(double a, double b) { return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b); }

}  // namespace

Reruns::Reruns(const Program& program, std::span<const std::span<const std::byte>> inputs, const Poison& poison,
               const RunLimits& limits)
    : program_(program), inputs_(inputs), poison_(poison), limits_(limits), work_(work_of(program.body)) {
  for (const std::int64_t extent : program.grid) work_ *= static_cast<double>(extent);
}

std::optional<Outputs> Reruns::run(RunOptions options) {
  options.limits = limits_;
  spent_ += work_ * (options.observer != nullptr ? kObservedShare : 1);
  if (spent_ > kBudget) return std::nullopt;
  Outputs result;
  std::vector<std::span<std::byte>> memory;
  for (const std::uint32_t id : program_.outputs) {
    const Buffer& buffer = program_.buffers[id];
    result.bytes.emplace_back(
        static_cast<std::size_t>(checked_product(buffer.shape, static_cast<std::int64_t>(size_of(buffer.dtype)))));
    memory.emplace_back(result.bytes.back());
  }
  result.report = run_program(program_, inputs_, memory, poison_, options);
  return result;
}

std::optional<Difference> Reruns::difference(const Outputs& before, const Outputs& after) const {
  std::optional<Difference> found;
  for (std::size_t k = 0; k < before.bytes.size(); ++k) {
    if (before.bytes[k] == after.bytes[k]) continue;
    const Dtype dtype = program_.buffers[program_.outputs[k]].dtype;
    const std::size_t item = size_of(dtype);
    double largest = 0, most = 0;
    for (std::size_t at = 0; at < before.bytes[k].size(); at += item) {
      const double a = element(dtype, before.bytes[k].data() + at), b = element(dtype, after.bytes[k].data() + at);
      if (std::isfinite(a)) largest = std::max(largest, std::abs(a));
      if (same(a, b)) continue;
      if (!found) found = Difference{k, at / item, a, b, 0};
      const double apart = std::abs(b - a);
      most = std::max(most, std::isfinite(apart) ? apart : std::numeric_limits<double>::infinity());
    }
    if (found && most > 0)
      found->most = std::max(found->most, largest > 0 ? most / largest : std::numeric_limits<double>::infinity());
  }
  return found;
}

}  // namespace nkigrid::nkisim
