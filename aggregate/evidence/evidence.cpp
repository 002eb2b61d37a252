#include "aggregate/evidence/evidence.hpp"

#include <fmt/format.h>

#include <set>

#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {

Evidence evidence_of(const jobs::Run& run, const log::Ledger& ledger, const TableOptions& options,
                     const TurnFacts* turns) {
  Evidence evidence;
  evidence.name = run.grid.name;
  evidence.options = options;
  evidence.levels = level_names(run.plan);
  evidence.run = &run, evidence.ledger = &ledger, evidence.turns = turns;
  evidence.scores = collect_scores(run, ledger, options.rule, options.subset);
  if (evidence.scores.empty()) {
    throw Error{ErrorCode::usage,
                fmt::format("no cell of the run has a task of subset '{}'; leave --subset out, or name another",
                            options.subset.value_or(""))};
  }
  for (const auto& cell : evidence.scores) {
    for (const auto& task : cell.tasks) evidence.outstanding += task.planned - task.scored;
  }
  return evidence;
}

Evidence evidence_of(const Population& population, const TableOptions& options, const TurnFacts* turns) {
  auto evidence = evidence_of(population.run, population.ledger, options, turns);
  evidence.notices = population.warnings;
  return evidence;
}

Evidence evidence_of(const PrintedCounts& counts, double confidence, const std::string& against) {
  Evidence evidence;
  evidence.name = counts.name;
  evidence.options.confidence = confidence;
  evidence.options.against = against;
  evidence.counts = &counts;
  std::set<std::string> levels;
  for (const auto& cell : counts.cells) {
    for (const auto& [name, count] : cell.levels) levels.insert(name);
  }
  evidence.levels.assign(levels.begin(), levels.end());
  return evidence;
}

}  // namespace nkigrid::aggregate
