#include "runner/model/synthetic/state.hpp"

#include <algorithm>
#include <cmath>

#include "jobs/base/draws.hpp"
#include "jobs/base/hash.hpp"
#include "runner/model/python/scan.hpp"

namespace nkigrid::model {
namespace {

double weight_of(const Profile& profile, const Fault& fault) {
  const auto it = profile.weights.find(std::string(fault.name));
  return it == profile.weights.end() ? 1.0 : it->second;
}

bool has(const std::vector<Planted>& planted, const Fault& fault) {
  return std::any_of(planted.begin(), planted.end(), [&](const Planted& item) { return item.fault == &fault; });
}

/// Plants up to `count` more faults, drawn by weight without replacement (Efraimidis and Spirakis 2006: the largest
/// u^(1/w) first), each of which must change the text that the others leave.
void plant(const Profile& profile, const SyntheticKey& key, std::string_view known, std::size_t turn, std::size_t count,
           std::vector<Planted>& planted) {
  struct Candidate {
    double rank;
    Planted planted;
  };
  std::vector<Candidate> candidates;
  for (const Fault& fault : all_faults()) {
    const double weight = weight_of(profile, fault);
    if (weight <= 0 || has(planted, fault)) continue;
    const double u = key.chance("fault", turn, fault.name);
    candidates.push_back({std::pow(u, 1 / weight), {&fault, key.bits("place", turn, fault.name)}});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.rank > b.rank; });
  for (const Candidate& candidate : candidates) {
    if (count == 0) break;
    std::vector<Planted> trial = planted;
    trial.push_back(candidate.planted);
    std::sort(trial.begin(), trial.end(), [](const Planted& a, const Planted& b) { return a.fault < b.fault; });
    if (broken_kernel(known, trial) == broken_kernel(known, planted)) continue;
    planted = std::move(trial);
    --count;
  }
}

/// The line, from 1, where a fault shows in the broken kernel.
std::uint32_t line_of_fault(std::string_view known, const std::vector<Planted>& planted, const Planted& fault) {
  std::vector<Planted> others;
  std::copy_if(planted.begin(), planted.end(), std::back_inserter(others),
               [&](const Planted& item) { return item.fault != fault.fault; });
  const std::string with = broken_kernel(known, planted), without = broken_kernel(known, others);
  const auto [at, ignored] = std::mismatch(with.begin(), with.end(), without.begin(), without.end());
  return line_of(with, static_cast<std::size_t>(at - with.begin()));
}

double repair_chance(const RepairProfile& repair, const Feedback& feedback, const Fault& fault, std::uint32_t line) {
  const bool code = std::find(fault.codes.begin(), fault.codes.end(), feedback.code) != fault.codes.end();
  const bool word = std::any_of(fault.words.begin(), fault.words.end(),
                                [&](std::string_view text) { return feedback.text.find(text) != std::string::npos; });
  switch (feedback.kind) {
    case Feedback::Kind::compile_failed: {
      const bool here = feedback.line != 0 && feedback.line + 1 >= line && feedback.line <= line + 1;
      const int signs = (code ? 1 : 0) + (word ? 1 : 0) + (here ? 1 : 0);
      const double chance = signs >= 2 ? repair.exact : signs == 1 ? repair.named : repair.unrelated;
      return feedback.raw ? chance * repair.raw_text : chance;
    }
    case Feedback::Kind::verify_failed:
      return code || word ? repair.hinted : repair.vague;
    case Feedback::Kind::none:
      return repair.blind;
    case Feedback::Kind::compile_passed:
    case Feedback::Kind::verify_passed:
      return 0;
  }
  return 0;
}

std::size_t draw_count(const std::vector<double>& chances, double u) {
  for (std::size_t i = 0; i < chances.size(); ++i) {
    if (u < chances[i]) return i;
    u -= chances[i];
  }
  return chances.size() - 1;
}

}  // namespace

std::uint64_t SyntheticKey::bits(std::string_view what, std::size_t turn, std::string_view which) const {
  return Draws(keyed_hash({"synthetic", profile_hash, seed, task, what, std::to_string(turn), which})).bits();
}

double SyntheticKey::chance(std::string_view what, std::size_t turn, std::string_view which) const {
  return Draws(keyed_hash({"synthetic", profile_hash, seed, task, what, std::to_string(turn), which})).uniform();
}

std::string broken_kernel(std::string_view known, const std::vector<Planted>& planted) {
  std::string source(known);
  for (const Planted& item : planted) {
    if (auto broken = item.fault->apply(source, item.pick)) source = std::move(*broken);
  }
  return source;
}

SyntheticState first_state(const Profile& profile, const LevelProfile& level, const SyntheticKey& key,
                           std::string_view known, bool tools) {
  SyntheticState state;
  plant(profile, key, known, 0, draw_count(tools ? level.tool_faults : level.faults, key.chance("faults", 0)),
        state.planted);
  return state;
}

void take_feedback(const Profile& profile, const LevelProfile& level, const SyntheticKey& key, std::string_view known,
                   std::size_t turn, const Feedback& feedback, SyntheticState& state) {
  state.feedback = feedback;
  state.repaired.clear();
  state.over_reacted = false;
  if (feedback.kind == Feedback::Kind::verify_passed) return;
  if (feedback.kind == Feedback::Kind::compile_passed) {
    state.over_reacted = feedback.warned && key.chance("over-react", turn) < level.over_reacts;
    if (state.over_reacted) plant(profile, key, known, turn, 1, state.planted);
    return;
  }
  std::vector<Planted> kept;
  for (const Planted& item : state.planted) {
    const std::uint32_t line = line_of_fault(known, state.planted, item);
    if (key.chance("repair", turn, item.fault->name) < repair_chance(profile.repair, feedback, *item.fault, line)) {
      state.repaired.push_back(item.fault);
    } else {
      kept.push_back(item);
    }
  }
  state.planted = std::move(kept);
  if (feedback.kind != Feedback::Kind::none && key.chance("drift", turn) < profile.drift) {
    plant(profile, key, known, turn, 1, state.planted);
  }
}

}  // namespace nkigrid::model
