#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/evidence/evidence.hpp"
#include "aggregate/statistics/relative.hpp"

namespace nkigrid::aggregate {

/// One value of a factor against the first one, the other factors held.
struct AblationRow {
  std::string factor, value, baseline;  ///< baseline: the value compared with; itself in the baseline's own row
  std::string context;                  ///< the other factors' values, or "mean of N" over several such
  std::string cell;                     ///< empty in a mean
  std::string subset;                   ///< of the cell
  std::uint32_t tasks = 0;              ///< of the comparison; of the cell in a baseline's row
  std::uint64_t outstanding = 0;
  std::optional<double> rate;
  std::optional<Interval> rate_interval;
  std::optional<double> difference;  ///< to the baseline, in points
  std::optional<Interval> interval;  ///< of the difference
  RelativeChange relative;           ///< the same as a share of the baseline's rate; make_ablation() only

  /// What is compared, by twos: value, baseline, value, baseline, ...; none in a baseline's row. Of a run, or of
  /// counts.
  std::vector<const CellScores*> scores;
  std::vector<const PrintedCell*> printed;
};

/// For each factor (model, mode, prompt) and each context in which two or more of its values were run: every
/// value against the first one listed, paired on shared tasks; and over several contexts with the same
/// baseline, the mean effect on the tasks that all of them share. The value options.against is the baseline
/// wherever it was run. From counts: contexts are the other factor and the subset, intervals Newcombe's.
std::vector<AblationRow> make_differences(const Evidence& evidence);

/// The same with relative changes, whose intervals are drawn: that takes time.
std::vector<AblationRow> make_ablation(const Evidence& evidence);

}  // namespace nkigrid::aggregate
