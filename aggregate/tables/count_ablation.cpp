#include "aggregate/tables/count_ablation.hpp"

#include <algorithm>
#include <set>

namespace nkigrid::aggregate {
namespace {

using TextField = std::string PrintedCell::*;

/// A factor of printed cells, and the other one. Prompts are often unknown and are held.
struct PrintedFactor {
  const char* name;
  TextField value, other;
};

constexpr PrintedFactor kPrintedFactors[] = {{"model", &PrintedCell::model, &PrintedCell::mode},
                                             {"mode", &PrintedCell::mode, &PrintedCell::model}};

std::vector<const PrintedCell*> comparable(const Evidence& evidence, const PrintedFactor& factor,
                                           const PrintedCell& first) {
  std::vector<const PrintedCell*> cells;
  for (const auto& cell : evidence.counts->cells) {
    if (cell.subset == first.subset && cell.*factor.other == first.*factor.other && cell.prompt == first.prompt &&
        !(cell.*factor.value).empty())
      cells.push_back(&cell);
  }
  std::stable_partition(cells.begin(), cells.end(),
                        [&](const auto* cell) { return cell->*factor.value == evidence.options.against; });
  return cells;
}

AblationRow printed_row(const PrintedFactor& factor, const std::string& context, const PrintedCell& cell,
                        const PrintedCell& base, double confidence) {
  const auto n = static_cast<double>(cell.n), n0 = static_cast<double>(base.n);
  const double rate = static_cast<double>(cell.passed) / n, rate0 = static_cast<double>(base.passed) / n0;
  AblationRow row{factor.name,
                  cell.*factor.value,
                  base.*factor.value,
                  context,
                  cell.cell,
                  cell.subset,
                  static_cast<std::uint32_t>(cell.n)};
  row.rate = rate;
  row.rate_interval = wilson(rate, n, confidence);
  if (&cell == &base) return row;
  row.difference = rate - rate0;
  row.interval = newcombe(rate, n, rate0, n0, confidence);
  row.printed = {&cell, &base};
  return row;
}

}  // namespace

std::vector<AblationRow> make_count_differences(const Evidence& evidence) {
  std::vector<AblationRow> rows;
  for (const auto& factor : kPrintedFactors) {
    std::set<std::string> seen;
    for (const auto& first : evidence.counts->cells) {
      const auto context = first.*factor.other + (first.prompt.empty() ? "" : "." + first.prompt);
      if ((first.*factor.value).empty() || !seen.insert(context + " " + first.subset).second) continue;
      const auto cells = comparable(evidence, factor, first);
      for (std::size_t i = 0; i < cells.size() && cells.size() > 1; ++i)
        rows.push_back(printed_row(factor, context, *cells[i], *cells.front(), evidence.options.confidence));
    }
  }
  return rows;
}

}  // namespace nkigrid::aggregate
