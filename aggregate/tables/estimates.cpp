#include "aggregate/tables/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "aggregate/evidence/counted_episodes.hpp"
#include "aggregate/statistics/median.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

/// How fast the kernels of a cell are that are right, by the device's estimate: all of them, or those of one level.
struct EstimateRow {
  std::string cell, scope;                  ///< scope: "all", or a level
  std::uint64_t passed = 0, estimated = 0;  ///< episodes whose final kernel passes; those of them with an estimate
  std::optional<double> median_us;          ///< over the estimated ones
  /// Of each estimate over its task's fastest in these cells; at least 1.
  std::optional<double> median_to_fastest;
};

/// A passing final kernel. us: its estimate, not finite for none.
struct PassingKernel {
  std::uint32_t task = 0, stratum = 0;
  double us = 0;
};

/// By cell, and the fastest of each task over them.
struct PassingKernels {
  std::vector<std::vector<PassingKernel>> cells;
  std::vector<double> fastest;
};

// The log holds the estimate of the final kernel alone: under the rule `best` an episode counts when that one passes.
PassingKernels passing_kernels(const Evidence& evidence) {
  const auto rule = evidence.options.rule == Rule::best ? Rule::paper : evidence.options.rule;
  PassingKernels found{std::vector<std::vector<PassingKernel>>(evidence.scores.size()),
                       std::vector<double>(evidence.run->plan.tasks.size(), std::numeric_limits<double>::infinity())};
  visit_counted(evidence, [&](const CountedEpisode& episode) {
    if (!passed(episode.end, rule)) return;
    const double us = episode.end.estimate_us;
    found.cells[episode.row].push_back({episode.planned.task, episode.stratum, us});
    if (std::isfinite(us)) found.fastest[episode.planned.task] = std::min(found.fastest[episode.planned.task], us);
  });
  return found;
}

void estimate(EstimateRow& row, const std::vector<PassingKernel>& kernels, const std::vector<double>& fastest,
              std::optional<std::uint32_t> stratum) {
  std::vector<double> times, ratios;
  for (const auto& kernel : kernels) {
    if (stratum && *stratum != kernel.stratum) continue;
    ++row.passed;
    if (!std::isfinite(kernel.us)) continue;
    times.push_back(kernel.us);
    // An estimate of 0 us has no ratio.
    if (fastest[kernel.task] > 0) ratios.push_back(kernel.us / fastest[kernel.task]);
  }
  row.estimated = times.size();
  row.median_us = median(std::move(times));
  row.median_to_fastest = median(std::move(ratios));
}

// Only levels that a cell has tasks of get a row.
std::vector<EstimateRow> make_estimates(const Evidence& evidence) {
  const auto found = passing_kernels(evidence);
  std::vector<EstimateRow> rows;
  for (std::size_t cell = 0; cell < evidence.scores.size(); ++cell) {
    const auto& scores = evidence.scores[cell];
    const auto& id = evidence.cell(scores).id;
    estimate(rows.emplace_back(EstimateRow{id, "all"}), found.cells[cell], found.fastest, std::nullopt);
    for (std::uint32_t level = 0; level < evidence.levels.size(); ++level) {
      const bool has_tasks = std::any_of(scores.tasks.begin(), scores.tasks.end(),
                                         [&](const auto& task) { return task.stratum == level; });
      if (has_tasks)
        estimate(rows.emplace_back(EstimateRow{id, evidence.levels[level]}), found.cells[cell], found.fastest, level);
    }
  }
  return rows;
}

Words estimate_notes(const std::vector<EstimateRow>& rows) {
  Words notes{"to fastest: each kernel against the fastest passing one of its task in this table; median"};
  const bool none = std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.estimated == 0; });
  const bool passes = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.passed > 0; });
  if (none) {
    notes.push_back(passes ? "the device gave no estimate; the backend sim gives one"
                           : "no kernel passes, so there is none to estimate");
    return notes;
  }
  for (const auto& row : rows) {
    if (row.estimated < row.passed && row.scope == "all")
      notes.push_back(fmt::format("{}: {} of {} passing kernels have no estimate", row.cell, row.passed - row.estimated,
                                  row.passed));
  }
  return notes;
}

Sheet display_estimates(const Evidence& evidence) {
  const auto& rows = evidence.once(make_estimates);
  Sheet sheet{.caption = caption_of_counts(evidence, "estimated time of the kernels that pass"),
              .columns = {{"cell"},
                          {"scope"},
                          {"passed", Align::right},
                          {"median us", Align::right},
                          {"to fastest", Align::right}},
              .notes = estimate_notes(rows)};
  for (const auto& row : rows) {
    sheet.rows.push_back({row.cell, row.scope, std::to_string(row.passed),
                          row.median_us ? fmt::format("{:.1f}", *row.median_us) : "-",
                          row.median_to_fastest ? fmt::format("{:.2f}", *row.median_to_fastest) : "-"});
  }
  return sheet;
}

Sheet data_estimates(const Evidence& evidence) {
  Sheet sheet{.columns = data_columns({"cell", "scope", "#passed", "#estimated", "#median_us", "#median_to_fastest"})};
  for (const auto& row : evidence.once(make_estimates)) {
    sheet.rows.push_back({row.cell, row.scope, std::to_string(row.passed), std::to_string(row.estimated),
                          fraction(row.median_us), fraction(row.median_to_fastest)});
  }
  return sheet;
}

/// 0: unknown.
double roofline_us(const Evidence& evidence, const std::string& task) {
  const auto& about = evidence.run->benchmark.about;
  const auto found = about.find(task);
  return found == about.end() ? 0 : found->second.roofline_us;
}

}  // namespace

Sheet rooflines(const Evidence& evidence) {
  Sheet sheet{.columns = data_columns({"cell", "level", "task", "#roofline_us", "#kernels", "#median_us"})};
  const auto found = passing_kernels(evidence);
  for (std::size_t cell = 0; cell < evidence.scores.size(); ++cell) {
    std::map<std::uint32_t, std::vector<double>> times;  // of a task
    for (const auto& kernel : found.cells[cell])
      if (std::isfinite(kernel.us)) times[kernel.task].push_back(kernel.us);
    for (auto& [place, us] : times) {
      const auto& task = evidence.run->plan.tasks[place];
      const double bound = roofline_us(evidence, task.id);
      if (bound <= 0) continue;
      const auto kernels = std::to_string(us.size());
      sheet.rows.push_back({evidence.cell(evidence.scores[cell]).id, task.level, task.id, fraction(bound), kernels,
                            fraction(median(std::move(us)))});
    }
  }
  return sheet;
}

Table estimates_table() { return {.name = "estimates", .display = display_estimates, .data = data_estimates}; }

}  // namespace nkigrid::aggregate
