#pragma once

#include <vector>

#include "aggregate/tables/counts.hpp"
#include "aggregate/tables/tables.hpp"

namespace nkigrid::aggregate {

/// For each factor (model, mode, prompt) and each context in which two or more of its values were run: every
/// value against the first one listed, paired on shared tasks; and over several contexts with the same
/// baseline, the mean effect on the tasks that all of them share. The value options.against is the baseline
/// wherever it was run.
std::vector<AblationRow> make_ablation(const jobs::Run& run, const std::vector<CellScores>& scores,
                                       const TableOptions& options);

/// The same from printed counts: contexts are the other factor and the subset, intervals Newcombe's.
std::vector<AblationRow> make_ablation(const Counts& counts, double level, const std::string& against);

/// The 2x2 interactions of the grid's `factors`; without any, of every value against the first of its factor,
/// for every two factors. p values are one family of their own.
std::vector<InteractionRow> make_interactions(const jobs::Run& run, const std::vector<CellScores>& scores,
                                              const TableOptions& options);

/// The interactions of models and modes, from counts: an interval, and no test.
std::vector<InteractionRow> make_interactions(const Counts& counts, double level);

}  // namespace nkigrid::aggregate
