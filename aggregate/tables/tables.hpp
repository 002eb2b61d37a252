#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/tables/estimates.hpp"
#include "aggregate/tables/population.hpp"
#include "aggregate/tables/rows.hpp"
#include "aggregate/tables/scores.hpp"
#include "aggregate/tables/table_names.hpp"
#include "aggregate/tables/turn_facts.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::aggregate {

/// How p values are adjusted for their number; verdicts go by it.
enum class Adjust { holm, bh };

/// Scopes that pairs are tested in beside those of the contrasts.
enum class ScopesBy { contrast, level, category };

struct TableOptions {
  Rule rule = Rule::paper;
  std::optional<std::string> subset;
  bool partial = false;
  double level = 0.95;
  Adjust adjust = Adjust::holm;
  ScopesBy by = ScopesBy::contrast;
  bool clopper_pearson = false;  ///< Clopper-Pearson in place of Wilson and BCa for rates
  std::string against;  ///< the value that ablations are held against where it was run; empty: the first listed
  std::optional<std::string> baseline;  ///< the cell that costs are relative to; default: the first
  std::uint32_t draws = 9999;  ///< a relative change's interval; 0 where no ablation is printed: drawing takes time
};

/// What a reader of single rows must know.
struct RowWarning {
  TableName table;  ///< the one that holds them
  std::string text;
  std::vector<TableName> also = {};  ///< others that show the same, or what follows from it
};

/// What the tables say, before any layout. Holds no time, host, path or order of arrival.
struct Tables {
  std::string run;  ///< the grid's name
  Rule rule = Rule::paper;
  double level = 0.95;
  bool partial = false;
  std::uint64_t outstanding = 0;
  std::vector<std::string> level_names;
  std::vector<CellRow> cells;  ///< in the grid's order
  std::vector<PairRow> pairs;
  std::vector<Breakdown> breakdowns;  ///< parallel to cells; empty from counts
  std::vector<ClaimRow> claims;       ///< from counts files only
  std::vector<std::string> warnings;  ///< of the whole
  std::vector<RowWarning> row_warnings;
  bool from_counts = false;
  Adjust adjust = Adjust::holm;
  std::string baseline;  ///< of the costs
  std::vector<AblationRow> ablation;
  std::vector<InteractionRow> interactions;
  std::vector<MethodRow> methods;
  std::vector<PairRow> method_pairs;
  std::vector<FlipRow> flips;
  std::vector<ReplicateRow> replicates;  ///< parallel to cells; empty from counts
  std::vector<RuleRow> rules;            ///< as above
  std::vector<EstimateRow> estimates;    ///< of runs only
  std::vector<CostRow> costs;            ///< as above; empty when the turns were not read
};

/// Turns a run's counted rows into rates, intervals and comparisons. Rates come from the plan's denominator.
/// @param facts of the same run; without them there are no costs, and no first errors
/// @throws Error{usage} for an unknown subset or baseline, or when the subset leaves no cell.
Tables make_tables(const jobs::Run& run, const log::Ledger& ledger, const TableOptions& options = {},
                   const TurnFacts* facts = nullptr);

/// The same of several runs put together; their warnings come first.
Tables make_tables(const Population& population, const TableOptions& options = {}, const TurnFacts* facts = nullptr);

/// Folds the run's log and writes every table as .txt and .csv, and tables.json, into `folder` (made when
/// absent; each file replaced as a whole). Same plan, seed and verdicts: same bytes, but for the costs.
/// @returns what was written. @throws Error{io, corrupt}
Tables write_tables(const jobs::Run& run, const std::filesystem::path& folder);

}  // namespace nkigrid::aggregate
