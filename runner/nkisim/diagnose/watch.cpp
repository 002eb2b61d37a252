#include "runner/nkisim/diagnose/watch.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runner/nkisim/program/words.hpp"

namespace nkigrid::nkisim {
namespace {

// The scalar engine's sine holds on [-pi, pi] (NKI documentation of nl.sin); a little room for the rounding of pi
// itself.
constexpr float kPi = 3.1416f;
constexpr float kMostExp = 88.72283f;  // the largest x for which exp(x) is finite in float32

struct Domain {
  Fn fn;
  bool (*outside)(float);
  const char* problem;  ///< after the function's name
  const char* advice;
};
constexpr Domain kDomains[] = {
    {Fn::exp, [](float x) { return x > kMostExp; }, "overflows above 88.7", "subtract the row's maximum first"},
    {Fn::log, [](float x) { return x <= 0; }, "needs values above 0", "bound them from below by a small number"},
    {Fn::sqrt, [](float x) { return x < 0; }, "needs values of at least 0",
     "a difference of nearly equal numbers may be negative: use nl.maximum(x, 0)"},
    {Fn::rsqrt, [](float x) { return x <= 0; }, "needs values above 0", "add an epsilon"},
    {Fn::reciprocal, [](float x) { return x == 0; }, "divides by 0", "add an epsilon"},
    {Fn::divide, [](float x) { return x == 0; }, "divides by 0", "add an epsilon"},
    {Fn::sin, [](float x) { return std::abs(x) > kPi; }, "is exact on [-pi, pi] alone",
     "take a multiple of 2 pi off first"},
    {Fn::cos, [](float x) { return std::abs(x) > kPi; }, "is exact on [-pi, pi] alone",
     "take a multiple of 2 pi off first"},
};

const Domain* domain_of(Fn fn) {
  const auto* found =
      std::find_if(std::begin(kDomains), std::end(kDomains), [&](const Domain& d) { return d.fn == fn; });
  return found == std::end(kDomains) ? nullptr : found;
}

}  // namespace

void Watch::read(const RowRead& row, const Tile& tile) {
  const auto each = static_cast<std::uint64_t>(row.item / row.granule);
  const auto bit = [&](std::int64_t offset) { return static_cast<std::uint64_t>(offset / row.granule); };
  if (row.stride == row.item && count_bits(tile.written, bit(row.offset), each * row.n) == each * row.n) return;
  for (std::size_t j = 0; j < row.n; ++j) {
    const std::int64_t offset = row.offset + row.stride * static_cast<std::int64_t>(j);
    if (count_bits(tile.written, bit(offset), each) == each) continue;
    auto known =
        std::find_if(uninitialised_.begin(), uninitialised_.end(), [&](const auto& u) { return u.first == row.root; });
    if (known == uninitialised_.end()) {
      const auto element = static_cast<std::uint64_t>((row.tile_start + offset) / row.item);
      known = uninitialised_.insert(known, {row.root, {row.buffer, row.line, element, 0}});
    }
    ++known->second.elements;
  }
}

void Watch::operand(Fn fn, std::uint32_t line, std::int64_t buffer, const float* values, std::size_t n) {
  const Domain* domain = domain_of(fn);
  if (domain == nullptr) return;
  OutOfRange& seen = ranges_[{line, fn}];
  for (std::size_t j = 0; j < n; ++j) {
    const float x = values[j];
    if (!std::isfinite(x)) continue;  // what made it so is reported where it happened
    seen.lowest = seen.all == 0 ? x : std::min(seen.lowest, x);
    seen.highest = seen.all == 0 ? x : std::max(seen.highest, x);
    ++seen.all;
    if (domain->outside(x)) ++seen.outside;
  }
  seen.fn = fn;
  seen.line = line;
  seen.buffer = buffer;
}

std::vector<OutOfRange> Watch::out_of_range() const {
  std::vector<OutOfRange> result;
  for (const auto& [key, seen] : ranges_) {
    if (seen.outside > 0) result.push_back(seen);
  }
  return result;
}

std::string to_text(const Program& program, const Uninitialised& what) {
  return fmt::format("{} was read before it was written, first at {} by line {}", variable_name(program, what.buffer),
                     index_text(program.buffers[what.buffer].shape, what.first), what.line);
}

std::string to_text(const Program& program, const OutOfRange& what) {
  const Domain& domain = *domain_of(what.fn);
  const std::string of =
      what.buffer < 0 ? std::string()
                      : fmt::format(" made of {}", variable_name(program, static_cast<std::uint32_t>(what.buffer)));
  return fmt::format("{} at line {} {}: {} of {} values{} lie outside (seen: {:.6g} to {:.6g}); {}", to_string(what.fn),
                     what.line, domain.problem, what.outside, what.all, of, static_cast<double>(what.lowest),
                     static_cast<double>(what.highest), domain.advice);
}

}  // namespace nkigrid::nkisim
