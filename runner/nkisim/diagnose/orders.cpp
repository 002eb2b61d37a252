#include "runner/nkisim/diagnose/orders.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "runner/nkisim/program/walk.hpp"
#include "runner/nkisim/program/words.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::size_t kMostLoops = 16;
// Two orders of one sum differ by roundings of the narrowest type on the way: bfloat16 2^-8, float32 2^-24 each; a lost
// or doubled trip by far more. Of the output's largest value.
constexpr double kNarrowRounding = 1e-2, kFloat32Rounding = 2e-5;

double rounding_of(const Program& program) {
  const bool narrow = std::any_of(program.buffers.begin(), program.buffers.end(),
                                  [](const Buffer& b) { return is_float(b.dtype) && b.dtype != Dtype::float32; });
  return narrow ? kNarrowRounding : kFloat32Rounding;
}

std::vector<const Node*> affine_loops(const Program& program) {
  std::vector<const Node*> result;
  for_each_node(program.body, [&](const Node& node) {
    const Loop* loop = std::get_if<Loop>(&node.what);
    if (loop != nullptr && !loop->sequential && loop->trips > 1) result.push_back(&node);
  });
  return result;
}

class OrderCheck {
 public:
  OrderCheck(const Program& program, Reruns& reruns, std::uint64_t seed)
      : program_(program), reruns_(reruns), seed_(seed), rounding_(rounding_of(program)) {}

  std::vector<OrderFinding> run(const Outputs& forward) {
    const std::vector<const Node*> loops = affine_loops(program_);
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
      const auto moved = reruns_.run(options);
      if (!moved) return false;
      const char* order = kind == TripOrder::Kind::reversed ? "reversed" : "shuffled";
      if (moved->report.code != Code::none) {
        findings_.push_back({line, name, false,
                             fmt::format("{} carries a dependence: run {} it fails at line {}: {}", who(line, name),
                                         order, moved->report.line, moved->report.message)});
        return true;
      }
      if (const auto found = reruns_.difference(forward, *moved)) {
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
  Reruns& reruns_;
  std::uint64_t seed_;
  double rounding_;
  std::vector<OrderFinding> findings_;
};

}  // namespace

std::vector<OrderFinding> findings_of_orders(const Program& program, Reruns& reruns, const Outputs& forward,
                                             std::uint64_t seed) {
  return OrderCheck(program, reruns, seed).run(forward);
}

std::vector<OrderFinding> compare_orders(const Program& program, std::span<const std::span<const std::byte>> inputs,
                                         const Poison& poison, std::uint64_t seed, const RunLimits& limits) {
  Reruns reruns(program, inputs, poison, limits);
  const auto forward = reruns.run();
  if (!forward || forward->report.code != Code::none) return {};
  return OrderCheck(program, reruns, seed).run(*forward);
}

}  // namespace nkigrid::nkisim
