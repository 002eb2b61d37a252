#include "runner/nkisim/diagnose/diagnose.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "runner/nkisim/diagnose/again.hpp"
#include "runner/nkisim/diagnose/watch.hpp"
#include "runner/nkisim/program/ranges.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::size_t kMostOfAKind = 4;
constexpr std::size_t kMostLoops = 16;
// Two orders of one sum differ by roundings of the narrowest type on the way: bfloat16 2^-8, float32 2^-24 each; a lost
// or doubled trip by far more. Of the output's largest value.
constexpr double kNarrowRounding = 1e-2, kFloat32Rounding = 2e-5;

double rounding_of(const Program& program) {
  const bool narrow = std::any_of(program.buffers.begin(), program.buffers.end(),
                                  [](const Buffer& b) { return is_float(b.dtype) && b.dtype != Dtype::float32; });
  return narrow ? kNarrowRounding : kFloat32Rounding;
}

/// Only undefined memory that changes an output is a cause: each suspect is run again with zeros in place of poison.
void uninitialised(const Program& program, const Watch& watch, const Outputs& before, Again& again, Diagnosis& out) {
  std::size_t suspects = 0;
  for (const auto& [root, what] : watch.uninitialised()) {
    if (suspects++ == kMostOfAKind) return;
    RunOptions options;
    options.zeroed = root;
    const auto after = again.run(options);
    if (!after) return;
    const bool output = program.buffers[root].kind == BufferKind::output;  // its poison is not the alloc's
    if (output || again.difference(before, *after)) out.causes.push_back(to_text(program, what));
  }
}

std::vector<std::string> narrow_variables(const Program& program) {
  std::vector<std::string> result;
  for (std::uint32_t b = 0; b < program.buffers.size() && result.size() < kMostOfAKind; ++b) {
    const Buffer& buffer = program.buffers[b];
    const bool on_chip = buffer.kind == BufferKind::sbuf || buffer.kind == BufferKind::psum;
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

void affine_loops(const Block& block, std::vector<const Node*>& out) {
  for (const Node& node : block) {
    if (const Loop* loop = std::get_if<Loop>(&node.what)) {
      if (!loop->sequential && loop->trips > 1) out.push_back(&node);
      affine_loops(loop->body, out);
    } else if (const If* branch = std::get_if<If>(&node.what)) {
      affine_loops(branch->then_body, out);
      affine_loops(branch->else_body, out);
    }
  }
}

class OrderCheck {
 public:
  OrderCheck(const Program& program, Again& again, std::uint64_t seed)
      : program_(program), again_(again), seed_(seed), rounding_(rounding_of(program)) {}

  std::vector<OrderFinding> run(const Outputs& forward) {
    std::vector<const Node*> loops;
    affine_loops(program_.body, loops);
    if (loops.empty() || !moves(forward, std::nullopt, 0, {})) return {};
    std::vector<OrderFinding> together;
    together.swap(findings_);
    for (std::size_t k = 0; k < std::min(loops.size(), kMostLoops); ++k) {
      const Loop& loop = std::get<Loop>(loops[k]->what);
      moves(forward, loop.id, loops[k]->line, loop.name);
    }
    return findings_.empty() ? together : std::move(findings_);
  }

 private:
  /// Runs the loop (or all) reversed, then shuffled; the first order that changes a byte is the finding.
  bool moves(const Outputs& forward, std::optional<std::uint32_t> loop, std::uint32_t line, const std::string& name) {
    for (const auto kind : {TripOrder::Kind::reversed, TripOrder::Kind::shuffled}) {
      RunOptions options;
      options.order = {kind, seed_, loop};
      const auto moved = again_.run(options);
      if (!moved) return false;
      const char* order = kind == TripOrder::Kind::reversed ? "reversed" : "shuffled";
      if (moved->report.code != Code::none) {
        findings_.push_back({line, name, false,
                             fmt::format("{} carries a dependence: run {} it fails at line {}: {}", who(line, name),
                                         order, moved->report.line, moved->report.message)});
        return true;
      }
      if (const auto found = again_.difference(forward, *moved)) {
        findings_.push_back({line, name, found->most <= rounding_, text(line, name, order, *found)});
        return true;
      }
    }
    return false;
  }
  static std::string who(std::uint32_t line, const std::string& name) {
    if (line == 0) return "the affine_range loops together";
    return name.empty() ? fmt::format("affine_range at line {}", line)
                        : fmt::format("affine_range at line {} (variable `{}`)", line, name);
  }
  std::string text(std::uint32_t line, const std::string& name, const char* order, const Difference& found) const {
    if (found.most <= rounding_) {
      return fmt::format(
          "{}: output {} changes by at most {:.1e} of its largest value when the trips run {}, as a sum in another "
          "order may",
          who(line, name), found.output, found.most, order);
    }
    const Buffer& output = program_.buffers[program_.outputs[found.output]];
    return fmt::format(
        "{} carries a dependence: its result depends on the order of the trips (output {} at {}: {:.6g} in order, "
        "{:.6g} {}); "
        "use nl.sequential_range, or accumulate with +=",
        who(line, name), found.output, index_text(output.shape, found.first), found.before, found.after, order);
  }

  const Program& program_;
  Again& again_;
  std::uint64_t seed_;
  double rounding_;
  std::vector<OrderFinding> findings_;
};

}  // namespace

Diagnosis diagnose(const Program& program, std::span<const std::span<const std::byte>> inputs, const Poison& poison,
                   const RunLimits& limits) {
  Diagnosis result;
  Again again(program, inputs, poison, limits);
  Watch watch(program);
  RunOptions options;
  options.watch = &watch;
  const auto watched = again.run(options);
  const bool ran = watched && watched->report.code == Code::none;
  if (ran) {
    uninitialised(program, watch, *watched, again, result);
    for (const OutOfRange& range : watch.out_of_range()) {
      if (result.causes.size() < 2 * kMostOfAKind) result.causes.push_back(to_text(program, range));
    }
  }
  for (auto& text : overwritten_in_loops(program)) result.causes.push_back(std::move(text));
  if (ran) {
    for (auto& finding : OrderCheck(program, again, 1).run(*watched)) {
      if (!finding.is_rounding) result.causes.push_back(std::move(finding.text));
    }
  }
  result.narrow = narrow_variables(program);
  return result;
}

std::vector<OrderFinding> compare_orders(const Program& program, std::span<const std::span<const std::byte>> inputs,
                                         const Poison& poison, std::uint64_t seed, const RunLimits& limits) {
  Again again(program, inputs, poison, limits);
  const auto forward = again.run();
  if (!forward || forward->report.code != Code::none) return {};
  return OrderCheck(program, again, seed).run(*forward);
}

}  // namespace nkigrid::nkisim
