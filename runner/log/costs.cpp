#include "runner/log/costs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>

#include "runner/log/effects.hpp"
#include "runner/log/reader.hpp"

namespace nkigrid::log {
namespace {

/// Below these a log would measure the clock, not the episode.
constexpr double kLeastSeconds = 1e-3, kLeastTokens = 1;
/// Equally likely factors that describe what is left between episodes.
constexpr std::size_t kNoisePoints = 200;
/// With fewer residuals than this the noise known before says more.
constexpr std::size_t kLeastResiduals = 30;

/// Numbers names in order of appearance.
class Numbering {
 public:
  std::uint32_t of(const std::string& name) {
    const auto [at, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return at->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

/// The groups of a history, shared by all quantities.
struct Grouping {
  EffectData data;
  std::array<Numbering, kFactors> names;

  explicit Grouping(const CostHistory& history) {
    std::unordered_map<std::uint64_t, std::uint32_t> groups;
    for (const auto& o : history.observations) {
      const auto [at, is_new] =
          groups.try_emplace(std::uint64_t{o.cell} << 32 | o.task, static_cast<std::uint32_t>(data.groups.size()));
      if (is_new) {
        const auto& cell = history.cells[o.cell];
        const auto& task = history.tasks[o.task];
        data.groups.push_back({{names[0].of(cell.model), names[1].of(cell.mode), names[2].of(cell.id),
                                names[3].of(task.level), names[4].of(task.id)}});
      }
      data.group.push_back(at->second);
    }
    for (std::size_t f = 0; f < kFactors; ++f) data.sizes[f] = static_cast<std::uint32_t>(names[f].names().size());
    data.y.resize(history.observations.size());
  }
};

/// Sorted residuals gathered into bins of equal count, each with the log of its mean factor: the mean is kept exactly.
std::vector<double> noise_of(std::vector<double> residuals) {
  std::sort(residuals.begin(), residuals.end());
  const auto points = std::min(kNoisePoints, residuals.size());
  std::vector<double> noise;
  for (std::size_t k = 0; k < points; ++k) {
    const auto first = residuals.size() * k / points, last = residuals.size() * (k + 1) / points;
    double sum = 0;
    for (auto i = first; i < last; ++i) sum += std::exp(residuals[i]);
    noise.push_back(std::log(sum / static_cast<double>(last - first)));
  }
  return noise;
}

/// known + what the fit found.
jobs::CostEffects corrected(const jobs::CostEffects& known, const EffectFit& fit,
                            const std::array<Numbering, kFactors>& names) {
  auto effects = known;
  effects.common += fit.common;
  const std::array<jobs::CostEffects::Effects*, kFactors> maps = {&effects.model, &effects.mode, &effects.cell,
                                                                  &effects.level, &effects.task};
  for (std::size_t f = 0; f < kFactors; ++f) {
    for (std::size_t j = 0; j < fit.effects[f].size(); ++j) (*maps[f])[names[f].names()[j]] += fit.effects[f][j];
  }
  if (fit.residuals.size() >= kLeastResiduals || known.noise.empty()) effects.noise = noise_of(fit.residuals);
  return effects;
}

/// Share of scored episodes' seconds that passed in requests, by model.
void add_endpoint_share(const jobs::Run& run, std::map<std::string, std::pair<double, double>>& sums) {
  std::unordered_map<std::string_view, std::pair<double, double>*> of_cell;
  for (const auto& cell : run.plan.cells) of_cell.emplace(cell.id, &sums[cell.model]);
  const auto find = [&](const AttemptId& id) {
    const auto at = of_cell.find(id.episode.cell);
    return at == of_cell.end() ? nullptr : at->second;
  };
  LogVisitor visitor;
  visitor.reply = [&](const Reply& reply) {
    if (auto* sum = find(reply.id)) sum->first += reply.llm_s;
  };
  visitor.end = [&](const End& end) {
    if (auto* sum = find(end.id)) sum->second += end.seconds;
  };
  read_log(log_of(run), Texts::skip, visitor);
}

}  // namespace

void add_history(CostHistory& history, const jobs::Run& run, const Ledger& ledger, const jobs::CostModel& known) {
  const auto& plan = run.plan;
  const auto first_cell = static_cast<std::uint32_t>(history.cells.size()),
             first_task = static_cast<std::uint32_t>(history.tasks.size());
  for (const auto& cell : plan.cells) history.cells.push_back({cell.id, cell.model, cell.mode});
  for (const auto& task : plan.tasks) history.tasks.push_back({task.id, task.level});
  const auto promised = jobs::middle_costs(run.grid, run.benchmark, plan, known);
  for (std::size_t i = 0; i < plan.episodes.size(); ++i) {
    const auto& end = ledger.ends[i];
    if (!end || end->turns <= end->inherited_turns || !(end->seconds > 0)) continue;
    const auto& episode = plan.episodes[i];
    const auto& prior = promised[episode.cell * plan.tasks.size() + episode.task];
    const double whole = static_cast<double>(end->turns) / (end->turns - end->inherited_turns);
    const auto ratio = [&](double value, double least, double expected) {
      return std::log(std::max(whole * value, least) / std::max(expected, least));
    };
    history.observations.push_back({first_cell + episode.cell, first_task + episode.task,
                                    ratio(end->seconds, kLeastSeconds, prior.seconds),
                                    ratio(static_cast<double>(end->tokens_in), kLeastTokens, prior.tokens_in),
                                    ratio(static_cast<double>(end->tokens_out), kLeastTokens, prior.tokens_out)});
  }
}

jobs::CostModel fit_costs(const CostHistory& history, const jobs::CostModel& known) {
  auto model = known;
  if (history.observations.empty()) return model;
  Grouping grouping(history);
  const auto fit = [&](jobs::CostEffects& effects, double CostObservation::*value) {
    for (std::size_t i = 0; i < grouping.data.y.size(); ++i) grouping.data.y[i] = history.observations[i].*value;
    effects = corrected(effects, fit_effects(grouping.data), grouping.names);
  };
  fit(model.seconds, &CostObservation::seconds);
  fit(model.tokens_in, &CostObservation::tokens_in);
  fit(model.tokens_out, &CostObservation::tokens_out);
  model.episodes += history.observations.size();
  return model;
}

jobs::CostModel learn_costs(std::span<const std::string> runs) {
  CostHistory history;
  std::map<std::string, std::pair<double, double>> shares;
  for (const auto& folder : runs) {
    const auto run = jobs::load_run(folder);
    add_history(history, run, read_ledger(run), {});
    add_endpoint_share(run, shares);
  }
  auto model = fit_costs(history, {});
  for (const auto& [name, sums] : shares) {
    if (sums.second > 0) model.endpoint_share[name] = std::min(1.0, sums.first / sums.second);
  }
  model.runs.assign(runs.begin(), runs.end());
  return model;
}

jobs::CostModel relearn_costs(const jobs::Run& run, const Ledger& ledger) {
  CostHistory history;
  add_history(history, run, ledger, run.costs);
  return fit_costs(history, run.costs);
}

}  // namespace nkigrid::log
