#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aggregate/evidence/counts.hpp"
#include "aggregate/evidence/memo.hpp"
#include "aggregate/evidence/options.hpp"
#include "aggregate/evidence/population.hpp"
#include "aggregate/evidence/scores.hpp"
#include "aggregate/evidence/turn_facts.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::aggregate {

/// What tables are made of: the counted episodes of a run, or printed counts; and what is asked of them. It refers to
/// the run or the counts, which must outlive it; rows that were made of it (once()) live as long as it does.
class Evidence {
 public:
  Evidence(Evidence&&) = default;

  std::string name;  ///< the grid's, or the counts file's
  TableOptions options;
  std::vector<std::string> levels;   ///< of the benchmark, sorted
  std::uint64_t outstanding = 0;     ///< planned episodes of the cells shown that have no scored outcome
  std::vector<std::string> notices;  ///< what was put together of several runs, and what was kept apart

  const jobs::Run* run = nullptr;  ///< null: from counts
  const log::Ledger* ledger = nullptr;
  const TurnFacts* turns = nullptr;  ///< null: the turns were not read
  std::vector<CellScores> scores;    ///< of the cells shown, in the grid's order

  const PrintedCounts* counts = nullptr;  ///< null: of a run

  bool from_counts() const noexcept { return counts != nullptr; }
  const jobs::CellSpec& cell(const CellScores& of) const { return run->plan.cells[of.cell]; }

  /// Rows that several tables or formats show are made once. @param make takes this and returns the rows
  template <class Rows>
  const Rows& once(Rows (*make)(const Evidence&)) const {
    return made_.get(make, *this);
  }

 private:
  Evidence() = default;
  friend Evidence evidence_of(const jobs::Run&, const log::Ledger&, const TableOptions&, const TurnFacts*);
  friend Evidence evidence_of(const PrintedCounts&, double, const std::string&);
  mutable Memo<Evidence> made_;
};

/// Rates come from the plan's denominator.
/// @param turns of the same run; without them there are no costs, and no first errors
/// @throws Error{usage} for an unknown subset, or when the subset leaves no cell
Evidence evidence_of(const jobs::Run& run, const log::Ledger& ledger, const TableOptions& options = {},
                     const TurnFacts* turns = nullptr);

/// The same of several runs put together.
Evidence evidence_of(const Population& population, const TableOptions& options = {}, const TurnFacts* turns = nullptr);

/// Printed counts know no episodes: of the options they take these two alone.
Evidence evidence_of(const PrintedCounts& counts, double confidence = 0.95, const std::string& against = {});

}  // namespace nkigrid::aggregate
