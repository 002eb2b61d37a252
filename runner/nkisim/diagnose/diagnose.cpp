#include "runner/nkisim/diagnose/diagnose.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "runner/nkisim/diagnose/orders.hpp"
#include "runner/nkisim/diagnose/overwrites.hpp"
#include "runner/nkisim/diagnose/rerun.hpp"
#include "runner/nkisim/diagnose/watch.hpp"
#include "runner/nkisim/program/words.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::size_t kMostOfAKind = 4;

/// Only undefined memory that changes an output is a cause: each suspect is run again with zeros in place of poison.
void uninitialised(const Program& program, const Watch& watch, const Outputs& before, Reruns& reruns, Diagnosis& out) {
  std::size_t suspects = 0;
  for (const auto& [root, what] : watch.uninitialised()) {
    if (suspects++ == kMostOfAKind) return;
    RunOptions options;
    options.zeroed = root;
    const auto after = reruns.run(options);
    if (!after) return;
    const bool output = program.buffers[root].kind == BufferKind::output;  // its poison is not the alloc's
    if (output || reruns.difference(before, *after)) out.causes.push_back(to_text(program, what));
  }
}

std::vector<std::string> narrow_variables(const Program& program) {
  std::vector<std::string> result;
  for (std::uint32_t b = 0; b < program.buffers.size() && result.size() < kMostOfAKind; ++b) {
    const Buffer& buffer = program.buffers[b];
    const bool on_chip = is_on_chip(buffer.kind);
    if (!on_chip || buffer.alias_of || !is_float(buffer.dtype) || size_of(buffer.dtype) > 2) continue;
    const int bits = buffer.dtype == Dtype::bfloat16      ? 8
                     : buffer.dtype == Dtype::float16     ? 11
                     : buffer.dtype == Dtype::float8_e4m3 ? 4
                                                          : 3;
    auto text = fmt::format("{} is held in {}, which rounds to 2^-{} relative", variable_name(program, b),
                            to_string(buffer.dtype), bits);
    if (std::find(result.begin(), result.end(), text) == result.end()) result.push_back(std::move(text));
  }
  return result;
}

}  // namespace

Diagnosis diagnose(const Program& program, std::span<const std::span<const std::byte>> inputs, const Poison& poison,
                   const RunLimits& limits) {
  Diagnosis result;
  Reruns reruns(program, inputs, poison, limits);
  Watch watch(program);
  RunOptions options;
  options.observer = &watch;
  const auto watched = reruns.run(options);
  const bool ran = watched && watched->report.code == Code::none;
  if (ran) {
    uninitialised(program, watch, *watched, reruns, result);
    for (const OutOfRange& range : watch.out_of_range()) {
      if (result.causes.size() < 2 * kMostOfAKind) result.causes.push_back(to_text(program, range));
    }
  }
  for (auto& text : overwritten_in_loops(program)) result.causes.push_back(std::move(text));
  if (ran) {
    for (auto& finding : findings_of_orders(program, reruns, *watched, 1)) {
      if (!finding.is_rounding) result.causes.push_back(std::move(finding.text));
    }
  }
  result.narrow = narrow_variables(program);
  return result;
}

}  // namespace nkigrid::nkisim
