#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "aggregate/statistics/combination.hpp"
#include "aggregate/statistics/family.hpp"
#include "aggregate/tables/ablation.hpp"
#include "aggregate/tables/shared_tasks.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr VerdictWords kWords{"super-additive", "sub-additive"};

/// One factor of a 2x2 with its two values.
struct Step {
  std::string factor, from, to;
};

std::string to_text(const Step& step) { return fmt::format("{}: {} -> {}", step.factor, step.from, step.to); }

class Interactions {
 public:
  Interactions(const jobs::Run& run, const std::vector<CellScores>& scores, const TableOptions& options)
      : run_(run), scores_(scores), options_(options) {}

  std::vector<InteractionRow> make() {
    for (const auto& [first, second] : wanted()) {
      for (const auto& context : contexts(first, second)) add(first, second, context);
    }
    adjust_family(rows_, options_, kWords);
    return std::move(rows_);
  }

 private:
  const jobs::CellSpec& spec(const CellScores& scores) const { return run_.plan.cells[scores.cell]; }

  std::vector<std::pair<Step, Step>> wanted() const {
    std::vector<std::pair<Step, Step>> pairs;
    if (!run_.grid.factors.empty()) {
      std::vector<Step> steps;
      for (const auto& [name, dimensions] : run_.grid.factors) {
        for (const auto& [dimension, values] : dimensions) steps.push_back({dimension, values.at(0), values.at(1)});
      }
      if (steps.size() == 2) pairs.emplace_back(steps[0], steps[1]);
      return pairs;
    }
    for (std::size_t f = 0; f < std::size(kFactors); ++f) {
      for (std::size_t g = f + 1; g < std::size(kFactors); ++g) {
        for (const auto& first : steps_of(kFactors[f])) {
          for (const auto& second : steps_of(kFactors[g])) pairs.emplace_back(first, second);
        }
      }
    }
    return pairs;
  }

  // Each value against the first that the cells use.
  std::vector<Step> steps_of(const std::string& factor) const {
    std::vector<std::string> values;
    for (const auto& cell : scores_) {
      const auto& value = value_of(spec(cell), factor);
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    std::vector<Step> steps;
    for (std::size_t i = 1; i < values.size(); ++i) steps.push_back({factor, values[0], values[i]});
    return steps;
  }

  // What is left of a cell beside two factors: the third's value, and its run.
  std::string rest_of(const jobs::CellSpec& cell, const Step& first, const Step& second) const {
    std::string rest;
    for (const auto* factor : kFactors) {
      if (factor != first.factor && factor != second.factor) rest = value_of(cell, factor);
    }
    const auto origin = origin_of(cell.id);
    return origin.empty() ? rest : rest + "@" + std::string(origin);
  }

  std::vector<std::string> contexts(const Step& first, const Step& second) const {
    std::vector<std::string> list;
    for (const auto& cell : scores_) {
      auto rest = rest_of(spec(cell), first, second);
      if (std::find(list.begin(), list.end(), rest) == list.end()) list.push_back(std::move(rest));
    }
    return list;
  }

  void add(const Step& first, const Step& second, const std::string& context) {
    std::array<const CellScores*, 4> cells{};
    InteractionRow row{to_text(first), to_text(second), context, {}};
    for (const auto& cell : scores_) {
      const auto& one = value_of(spec(cell), first.factor);
      const auto& two = value_of(spec(cell), second.factor);
      if (rest_of(spec(cell), first, second) != context) continue;
      if ((one != first.from && one != first.to) || (two != second.from && two != second.to)) continue;
      const std::size_t at = (one == first.to ? 2u : 0u) + (two == second.to ? 1u : 0u);
      cells[at] = &cell;
      row.cells[at] = spec(cell).id;
    }
    if (std::find(cells.begin(), cells.end(), nullptr) != cells.end()) return;
    const auto shared = share_tasks(cells);
    if (shared.tasks == 0) return;
    row.tasks = shared.tasks;
    row.outstanding = shared.outstanding;
    row.test = "sign-flip";
    if (!shared.ids.empty() && (shared.outstanding == 0 || options_.partial)) {
      const Combination interaction{shared.counts, {1, -1, -1, 1}};
      row.difference = value_of(interaction);
      row.interval = combination_interval(interaction, options_.level);
      row.p = sign_flip(sample_of(interaction));
    }
    rows_.push_back(std::move(row));
  }

  const jobs::Run& run_;
  const std::vector<CellScores>& scores_;
  const TableOptions& options_;
  std::vector<InteractionRow> rows_;
};

// Square-and-add of four Wilson intervals.
void fill(InteractionRow& row, const std::array<const CountedCell*, 4>& cells, double level) {
  double value = 0, below = 0, above = 0;
  for (std::size_t c = 0; c < 4; ++c) {
    const auto n = static_cast<double>(cells[c]->n);
    const double rate = static_cast<double>(cells[c]->passed) / n, sign = c == 0 || c == 3 ? 1 : -1;
    const auto ends = wilson(rate, n, level);
    const double down = rate - ends.low, up = ends.high - rate;
    value += sign * rate;
    below += sign > 0 ? down * down : up * up;
    above += sign > 0 ? up * up : down * down;
    row.cells[c] = cells[c]->cell;
  }
  row.difference = value;
  row.interval = Interval{"newcombe", value - std::sqrt(below), value + std::sqrt(above)};
  row.tasks = static_cast<std::uint32_t>(cells[0]->n);
  row.verdict = row.interval->low > 0 ? kWords.positive : row.interval->high < 0 ? kWords.negative : "not-separated";
}

}  // namespace

std::vector<InteractionRow> make_interactions(const jobs::Run& run, const std::vector<CellScores>& scores,
                                              const TableOptions& options) {
  return Interactions(run, scores, options).make();
}

std::vector<InteractionRow> make_interactions(const Counts& counts, double level) {
  std::vector<InteractionRow> rows;
  const auto find = [&](const CountedCell& like, const std::string& model,
                        const std::string& mode) -> const CountedCell* {
    for (const auto& cell : counts.cells) {
      if (cell.subset == like.subset && cell.prompt == like.prompt && cell.n == like.n && cell.model == model &&
          cell.mode == mode)
        return &cell;
    }
    return nullptr;
  };
  std::set<std::string> started;
  for (const auto& base : counts.cells) {
    if (base.model.empty() || base.mode.empty() || !started.insert(base.subset + " " + base.prompt).second) continue;
    for (const auto& cell : counts.cells) {
      if (cell.model == base.model || cell.mode == base.mode || cell.model.empty() || cell.mode.empty() ||
          cell.subset != base.subset)
        continue;
      const std::array<const CountedCell*, 4> cells{&base, find(base, base.model, cell.mode),
                                                    find(base, cell.model, base.mode),
                                                    find(base, cell.model, cell.mode)};
      if (std::find(cells.begin(), cells.end(), nullptr) != cells.end()) continue;
      InteractionRow row{
          to_text({"model", base.model, cell.model}), to_text({"mode", base.mode, cell.mode}), base.subset, {}};
      fill(row, cells, level);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace nkigrid::aggregate
