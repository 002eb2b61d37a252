#include "jobs/forecast/costs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/json_depth.hpp"

namespace nkigrid::jobs {
namespace {

constexpr int kCostsVersion = 1;

/// The standard normal's quantile, by bisection: it is asked for a hundred times.
double normal_quantile(double p) {
  double low = -10, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::vector<double> prior_noise(double sigma) {
  constexpr int kPoints = 100;
  std::vector<double> noise;
  for (int i = 0; i < kPoints; ++i) noise.push_back(sigma * normal_quantile((i + 0.5) / kPoints));
  return noise;
}

std::vector<double> factors_of(const std::vector<double>& noise) {
  std::vector<double> factors;
  double sum = 0;
  for (const double log_factor : noise) sum += factors.emplace_back(std::exp(log_factor));
  for (auto& factor : factors) factor *= static_cast<double>(factors.size()) / sum;
  return factors;
}

double effect_of(const CostEffects::Effects& effects, const std::string& name) {
  const auto at = effects.find(name);
  return at == effects.end() ? 0 : at->second;
}

/// Sum of the effects that a cell's episodes share, looked up once a cell.
double cell_effect(const CostEffects& e, const CellSpec& cell) {
  return e.common + effect_of(e.model, cell.model) + effect_of(e.mode, cell.mode) + effect_of(e.cell, cell.id);
}
double task_effect(const CostEffects& e, const PlannedTask& task) {
  return effect_of(e.level, task.level) + effect_of(e.task, task.id);
}

/// exp(effects) for every (cell, task).
std::vector<double> middle_multipliers(const CostEffects& effects, const Plan& plan) {
  std::vector<double> of_task, multipliers(plan.cells.size() * plan.tasks.size());
  for (const auto& task : plan.tasks) of_task.push_back(std::exp(task_effect(effects, task)));
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    const double of_cell = std::exp(cell_effect(effects, plan.cells[c]));
    for (std::size_t t = 0; t < plan.tasks.size(); ++t) multipliers[c * plan.tasks.size() + t] = of_cell * of_task[t];
  }
  return multipliers;
}

nlohmann::json to_json(const CostEffects& e) {
  return {{"common", e.common}, {"model", e.model}, {"mode", e.mode},  {"cell", e.cell},
          {"level", e.level},   {"task", e.task},   {"noise", e.noise}};
}

CostEffects effects_from_json(const nlohmann::json& json) {
  CostEffects e;
  json.at("common").get_to(e.common);
  for (const auto& [name, effects] : std::initializer_list<std::pair<const char*, CostEffects::Effects*>>{
           {"model", &e.model}, {"mode", &e.mode}, {"cell", &e.cell}, {"level", &e.level}, {"task", &e.task}}) {
    for (const auto& [key, value] : json.at(name).items()) effects->emplace(key, value.get<double>());
  }
  json.at("noise").get_to(e.noise);
  return e;
}

}  // namespace

double CostEffects::mean_factor() const {
  if (noise.empty()) return 1;
  double sum = 0;
  for (const double log_factor : noise) sum += std::exp(log_factor);
  return sum / static_cast<double>(noise.size());
}

double prior_seconds(const ModelSpec& model, const ModeSpec& mode, std::string_view level, const TimePrior& prior) {
  const double weight = !level.empty() && level.back() >= '1' && level.back() <= '9' ? level.back() - '0' : 1;
  const double turn = has_endpoint(model.api) ? reply_tokens(model) / prior.tokens_per_second + prior.check_seconds
                                              : prior.synthetic_seconds;
  return mode.turns * weight * turn;
}

std::vector<double> expected_seconds(const Grid& grid, const Plan& plan, const CostModel& model) {
  auto seconds = middle_multipliers(model.seconds, plan);
  const double mean = model.seconds.mean_factor();
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    const auto& spec = grid.model(plan.cells[c].model);
    const auto& mode = grid.mode(plan.cells[c].mode);
    for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
      const auto at = c * plan.tasks.size() + t;
      seconds[at] = plan.keys[at].empty() ? 0 : seconds[at] * mean * prior_seconds(spec, mode, plan.tasks[t].level);
    }
  }
  return seconds;
}

std::vector<ExpectedCost> middle_costs(const Grid& grid, const Benchmark& benchmark, const Plan& plan,
                                       const CostModel& model, const TimePrior& prior) {
  std::vector<ExpectedCost> costs(plan.keys.size());
  const auto seconds = middle_multipliers(model.seconds, plan);
  const auto in = middle_multipliers(model.tokens_in, plan), out = middle_multipliers(model.tokens_out, plan);
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    const auto& cell = plan.cells[c];
    const auto& spec = grid.model(cell.model);
    const auto& mode = grid.mode(cell.mode);
    for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
      const auto at = c * plan.tasks.size() + t;
      if (plan.keys[at].empty()) continue;
      const auto& task = plan.tasks[t];
      const auto most = most_tokens(spec, mode, grid.prompt(cell.prompt), *benchmark.find(task.id));
      costs[at] = {.seconds = seconds[at] * prior_seconds(spec, mode, task.level, prior),
                   .tokens_in = most.in * in[at],
                   .tokens_out = most.out * out[at]};
    }
  }
  return costs;
}

CostTable expected_costs(const Grid& grid, const Benchmark& benchmark, const Plan& plan, const CostModel& model,
                         const TimePrior& prior) {
  CostTable table;
  table.tasks = plan.tasks.size();
  table.learnt = model.learnt();
  table.costs = middle_costs(grid, benchmark, plan, model, prior);
  table.factors = factors_of(model.seconds.noise.empty() ? prior_noise(prior.noise_sigma) : model.seconds.noise);
  const double seconds = model.seconds.mean_factor(), in = model.tokens_in.mean_factor(),
               out = model.tokens_out.mean_factor();
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    const auto& spec = grid.model(plan.cells[c].model);
    const auto share = model.endpoint_share.find(spec.name);
    table.endpoint_share.push_back(!has_endpoint(spec.api)               ? 0
                                   : share != model.endpoint_share.end() ? share->second
                                                                         : prior.endpoint_share);
    for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
      auto& cost = table.costs[c * plan.tasks.size() + t];
      cost.seconds *= seconds;
      cost.tokens_in *= in;
      cost.tokens_out *= out;
      if (spec.price)
        cost.usd = (cost.tokens_in * spec.price->input_usd + cost.tokens_out * spec.price->output_usd) / 1e6;
    }
  }
  return table;
}

std::string to_json(const CostModel& model) {
  const nlohmann::json json = {{"format", "nkigrid-costs"},
                               {"version", kCostsVersion},
                               {"episodes", model.episodes},
                               {"runs", model.runs},
                               {"endpoint_share", model.endpoint_share},
                               {"seconds", to_json(model.seconds)},
                               {"tokens_in", to_json(model.tokens_in)},
                               {"tokens_out", to_json(model.tokens_out)}};
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

CostModel costs_from_json(const std::string& text, const std::filesystem::path& file) {
  try {
    const auto json = nlohmann::json::parse(shallow_part(text));
    if (json.at("format") != "nkigrid-costs" || json.at("version") != kCostsVersion)
      throw Error(ErrorCode::corrupt,
                  fmt::format("'{}' is no cost file of version {}; restore it", file.native(), kCostsVersion));
    CostModel model;
    json.at("episodes").get_to(model.episodes);
    json.at("runs").get_to(model.runs);
    for (const auto& [name, share] : json.at("endpoint_share").items())
      model.endpoint_share.emplace(name, share.get<double>());
    model.seconds = effects_from_json(json.at("seconds"));
    model.tokens_in = effects_from_json(json.at("tokens_in"));
    model.tokens_out = effects_from_json(json.at("tokens_out"));
    return model;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::corrupt, fmt::format("'{}' is damaged ({}); restore it", file.native(), error.what()));
  }
}

}  // namespace nkigrid::jobs
