#include "aggregate/evidence/reward.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "jobs/base/json_depth.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr double kPass = 1.0, kFail = -0.5;  // arXiv 2607.04395, section 3.4
constexpr double kStagesWeight = 0.5, kElementsWeight = 0.25, kSpeedWeight = 0.25;

/// There is a kernel, and it came through parse, trace, backend and run; of a kernel whose failure names no stage
/// nothing but the first is known.
double stages_of(Outcome outcome, Stage stage) {
  constexpr double kSteps = 5;
  switch (outcome) {
    case Outcome::pass:
    case Outcome::mismatch:
      return 1;
    case Outcome::compile_fail:
    case Outcome::compile_timeout:
    case Outcome::run_fail:
      return stage >= Stage::parse && stage <= Stage::run
                 ? (1 + static_cast<double>(stage) - static_cast<double>(Stage::parse)) / kSteps
                 : 1 / kSteps;
    default:
      return 0;  // no kernel, or one that was not honest
  }
}

double elements_of(const log::End& end, std::string_view findings) {
  if (end.outcome == Outcome::pass) return 1;
  if (end.outcome != Outcome::mismatch || end.code == Code::wrong_output_shape_dtype) return 0;
  const auto found = nlohmann::json::parse(shallow_part(findings), nullptr, false);
  const auto count = [&](const char* name) {
    const auto at = found.is_object() ? found.find(name) : found.end();
    return at != found.end() && at->is_number_unsigned() ? at->get<double>() : log::kNotMeasured;
  };
  const double share = 1 - count("mismatches") / count("elements");
  return std::isnan(share) ? share : std::clamp(share, 0.0, 1.0);
}

double speed_of(const log::End& end, double roofline_us) {
  if (end.outcome != Outcome::pass) return 0;
  if (!(end.estimate_us > 0) || !(roofline_us > 0)) return log::kNotMeasured;
  return std::min(1.0, roofline_us / end.estimate_us);
}

}  // namespace

Reward reward_of(const log::End& end, std::string_view findings, double roofline_us) {
  constexpr double kNone = log::kNotMeasured;
  if (!is_scored(end.outcome)) return {kNone, kNone, kNone, kNone, kNone};
  Reward reward;
  reward.binary = end.outcome == Outcome::pass ? kPass : kFail;
  reward.stages = stages_of(end.outcome, end.stage);
  reward.elements = elements_of(end, findings);
  reward.speed = speed_of(end, roofline_us);
  const double parts = kStagesWeight * reward.stages + kElementsWeight * reward.elements + kSpeedWeight * reward.speed;
  reward.graded = kFail + (kPass - kFail) * parts;
  return reward;
}

}  // namespace nkigrid::aggregate
