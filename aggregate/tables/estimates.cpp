#include "aggregate/tables/estimates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nkigrid::aggregate {
namespace {

/// The estimate of a passing final kernel. stratum: index of its level.
struct Estimated {
  std::uint32_t task = 0, stratum = 0;
  double us = 0;
};

struct CellEstimates {
  std::vector<std::uint64_t> passed;  ///< by level
  std::vector<bool> has_tasks;        ///< by level
  std::vector<Estimated> kernels;
};

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

EstimateRow make_row(const CellEstimates& cell, const std::vector<double>& fastest,
                     std::optional<std::uint32_t> stratum) {
  EstimateRow row;
  for (std::uint32_t level = 0; level < cell.passed.size(); ++level)
    row.passed += !stratum || *stratum == level ? cell.passed[level] : 0;
  std::vector<double> times, ratios;
  for (const auto& kernel : cell.kernels) {
    if (stratum && *stratum != kernel.stratum) continue;
    times.push_back(kernel.us);
    // An estimate of 0 us has no ratio.
    if (fastest[kernel.task] > 0) ratios.push_back(kernel.us / fastest[kernel.task]);
  }
  row.estimated = times.size();
  row.median_us = median(std::move(times));
  row.median_to_fastest = median(std::move(ratios));
  return row;
}

}  // namespace

std::vector<EstimateRow> make_estimates(const jobs::Run& run, const log::Ledger& ledger,
                                        std::span<const CellScores> scores, const std::vector<std::string>& levels,
                                        Rule rule) {
  const auto& plan = run.plan;
  constexpr std::uint32_t kNoLevel = ~std::uint32_t{0};
  std::vector<CellEstimates> cells(plan.cells.size());
  std::vector<std::uint32_t> stratum_of(plan.cells.size() * plan.tasks.size(), kNoLevel);
  for (const auto& score : scores) {
    auto& cell = cells[score.cell];
    cell.passed.resize(levels.size());
    cell.has_tasks.resize(levels.size());
    for (const auto& task : score.tasks) {
      stratum_of[score.cell * plan.tasks.size() + task.task] = task.stratum;
      cell.has_tasks[task.stratum] = true;
    }
  }
  std::vector<double> fastest(plan.tasks.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < plan.episodes.size(); ++i) {
    const auto& episode = plan.episodes[i];
    const auto stratum = stratum_of[episode.cell * plan.tasks.size() + episode.task];
    const auto& end = ledger.ends[i];
    if (stratum == kNoLevel || !end || !passed(*end, rule == Rule::best ? Rule::paper : rule)) continue;
    ++cells[episode.cell].passed[stratum];
    if (!std::isfinite(end->estimate_us)) continue;
    cells[episode.cell].kernels.push_back({episode.task, stratum, end->estimate_us});
    fastest[episode.task] = std::min(fastest[episode.task], end->estimate_us);
  }
  std::vector<EstimateRow> rows;
  const auto add = [&](const CellScores& score, const std::string& scope, std::optional<std::uint32_t> stratum) {
    auto row = make_row(cells[score.cell], fastest, stratum);
    row.cell = plan.cells[score.cell].id;
    row.scope = scope;
    rows.push_back(std::move(row));
  };
  for (const auto& score : scores) {
    add(score, "all", std::nullopt);
    for (std::uint32_t level = 0; level < levels.size(); ++level) {
      if (cells[score.cell].has_tasks[level]) add(score, levels[level], level);
    }
  }
  return rows;
}

}  // namespace nkigrid::aggregate
