#include "aggregate/tables/power_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "aggregate/evidence/shared_tasks.hpp"
#include "aggregate/statistics/pair_variances.hpp"
#include "aggregate/statistics/power.hpp"
#include "aggregate/tables/pairs.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr std::uint32_t kTasks[] = {25, 50, 75, 100, 150, 200, 250, 300, 400, 500};
constexpr std::uint32_t kReplicates[] = {1, 2, 3, 5, 10};

std::optional<PairVariances> first_measured(const Evidence& evidence, const VariancePrior& prior) {
  if (evidence.from_counts()) return std::nullopt;
  for (const auto& pair : evidence.once(make_pairs)) {
    std::vector<const CellScores*> both;
    for (const auto* name : {&pair.a, &pair.b}) {
      const auto found = std::find_if(evidence.scores.begin(), evidence.scores.end(),
                                      [&](const auto& cell) { return evidence.cell(cell).id == *name; });
      if (found != evidence.scores.end()) both.push_back(&*found);
    }
    if (both.size() < 2) continue;
    const auto shared = share_tasks(both);
    if (shared.counts[0].size() < 2) continue;
    if (auto measured = measured_variances(shared.counts[0], shared.counts[1], prior)) return measured;
  }
  return std::nullopt;
}

}  // namespace

Sheet power_curve(const Evidence& evidence) {
  const VariancePrior prior;
  const auto variances = first_measured(evidence, prior).value_or(expected_variances(prior));
  Sheet sheet{.columns = data_columns({"#tasks", "#replicates", "#smallest"})};
  for (const auto replicates : kReplicates) {
    for (const auto tasks : kTasks) {
      const PairedDesign design{
          static_cast<double>(tasks), variances.between_tasks,         variances.noise_a,
          variances.noise_b,          static_cast<double>(replicates), static_cast<double>(replicates)};
      sheet.rows.push_back({std::to_string(tasks), std::to_string(replicates), fraction(smallest_difference(design))});
    }
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
