#include "aggregate/tables/interactions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "aggregate/evidence/factors.hpp"
#include "aggregate/evidence/shared_tasks.hpp"
#include "aggregate/statistics/combination.hpp"
#include "aggregate/tables/cells.hpp"
#include "aggregate/tables/family.hpp"
#include "aggregate/tables/table.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr VerdictWords kAdditivity{"super-additive", "sub-additive"};

/// One factor of a 2x2 with its two values.
struct Step {
  std::string factor, from, to;
};

std::string to_text(const Step& step) { return fmt::format("{}: {} -> {}", step.factor, step.from, step.to); }

class Interactions {
 public:
  explicit Interactions(const Evidence& evidence) : evidence_(evidence), options_(evidence.options) {}

  std::vector<InteractionRow> make() {
    for (const auto& [first, second] : wanted()) {
      for (const auto& context : contexts(first, second)) add(first, second, context);
    }
    adjust_family(rows_, options_, kAdditivity);
    return std::move(rows_);
  }

 private:
  std::vector<std::pair<Step, Step>> wanted() const {
    return evidence_.run->grid.factors.empty() ? every_two() : declared();
  }

  std::vector<std::pair<Step, Step>> declared() const {
    std::vector<Step> steps;
    for (const auto& [name, dimensions] : evidence_.run->grid.factors) {
      for (const auto& [dimension, values] : dimensions) steps.push_back({dimension, values.at(0), values.at(1)});
    }
    if (steps.size() != 2) return {};
    return {{steps[0], steps[1]}};
  }

  std::vector<std::pair<Step, Step>> every_two() const {
    std::vector<std::pair<Step, Step>> pairs;
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
    for (const auto& cell : evidence_.scores) {
      const auto& value = factor_value(evidence_.cell(cell), factor);
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    std::vector<Step> steps;
    for (std::size_t i = 1; i < values.size(); ++i) steps.push_back({factor, values[0], values[i]});
    return steps;
  }

  std::vector<std::string> contexts(const Step& first, const Step& second) const {
    std::vector<std::string> list;
    for (const auto& cell : evidence_.scores) {
      auto context = context_of(evidence_.cell(cell), {first.factor, second.factor});
      if (std::find(list.begin(), list.end(), context) == list.end()) list.push_back(std::move(context));
    }
    return list;
  }

  using Square = std::array<const CellScores*, 4>;

  // p00, p01, p10, p11; null: the context has no such cell.
  Square square_of(const Step& first, const Step& second, const std::string& context) const {
    Square cells{};
    for (const auto& cell : evidence_.scores) {
      const auto& spec = evidence_.cell(cell);
      const auto &one = factor_value(spec, first.factor), &two = factor_value(spec, second.factor);
      if (context_of(spec, {first.factor, second.factor}) != context) continue;
      if ((one != first.from && one != first.to) || (two != second.from && two != second.to)) continue;
      cells[(one == first.to ? 2u : 0u) + (two == second.to ? 1u : 0u)] = &cell;
    }
    return cells;
  }

  void add(const Step& first, const Step& second, const std::string& context) {
    const auto cells = square_of(first, second, context);
    if (std::find(cells.begin(), cells.end(), nullptr) != cells.end()) return;
    InteractionRow row{to_text(first), to_text(second), context, {}};
    for (std::size_t c = 0; c < cells.size(); ++c) row.cells[c] = evidence_.cell(*cells[c]).id;
    const auto shared = share_tasks(cells);
    if (shared.tasks == 0) return;
    row.tasks = shared.tasks;
    row.outstanding = shared.outstanding;
    row.test = options_.test == PValue::exact ? "sign-flip" : "sign-flip-mid-p";
    if (is_ready(shared, options_.partial)) {
      const auto found = compare({shared.counts, {1, -1, -1, 1}}, options_.confidence, options_.test);
      row.difference = found.value;
      row.interval = found.interval;
      row.p = found.p;
    }
    rows_.push_back(std::move(row));
  }

  const Evidence& evidence_;
  const TableOptions& options_;
  std::vector<InteractionRow> rows_;
};

using PrintedSquare = std::array<const PrintedCell*, 4>;

// Unpaired, and by the interval alone: counts have no test.
InteractionRow printed_interaction(const Step& first, const Step& second, const PrintedSquare& cells,
                                   double confidence) {
  InteractionRow row{to_text(first), to_text(second), cells[0]->subset, {}};
  constexpr double kSigns[] = {1, -1, -1, 1};
  std::vector<WeighedRate> rates;
  double value = 0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const auto n = static_cast<double>(cells[c]->n);
    rates.push_back({static_cast<double>(cells[c]->passed) / n, n, kSigns[c]});
    value += kSigns[c] * rates.back().rate;
    row.cells[c] = cells[c]->cell;
  }
  row.difference = value;
  row.interval = square_and_add(rates, confidence);
  row.tasks = static_cast<std::uint32_t>(cells[0]->n);
  row.verdict = row.interval->low > 0    ? kAdditivity.positive
                : row.interval->high < 0 ? kAdditivity.negative
                                         : "not-separated";
  return row;
}

// The cell of this model and mode on the tasks and with the prompt of `like`; null: there is none.
const PrintedCell* find_like(const PrintedCounts& counts, const PrintedCell& like, const std::string& model,
                             const std::string& mode) {
  const auto found = std::find_if(counts.cells.begin(), counts.cells.end(), [&](const auto& cell) {
    return cell.subset == like.subset && cell.prompt == like.prompt && cell.n == like.n && cell.model == model &&
           cell.mode == mode;
  });
  return found == counts.cells.end() ? nullptr : &*found;
}

void add_squares(const Evidence& evidence, const PrintedCell& base, std::vector<InteractionRow>& rows) {
  const auto& counts = *evidence.counts;
  for (const auto& cell : counts.cells) {
    if (cell.model == base.model || cell.mode == base.mode || cell.model.empty() || cell.mode.empty() ||
        cell.subset != base.subset)
      continue;
    const PrintedSquare cells{&base, find_like(counts, base, base.model, cell.mode),
                              find_like(counts, base, cell.model, base.mode),
                              find_like(counts, base, cell.model, cell.mode)};
    if (std::find(cells.begin(), cells.end(), nullptr) != cells.end()) continue;
    rows.push_back(printed_interaction({"model", base.model, cell.model}, {"mode", base.mode, cell.mode}, cells,
                                       evidence.options.confidence));
  }
}

std::vector<InteractionRow> interactions_of_counts(const Evidence& evidence) {
  std::vector<InteractionRow> rows;
  std::set<std::string> started;
  for (const auto& base : evidence.counts->cells) {
    if (!base.model.empty() && !base.mode.empty() && started.insert(base.subset + " " + base.prompt).second)
      add_squares(evidence, base, rows);
  }
  return rows;
}

std::string rates_word(const Evidence& evidence, const InteractionRow& row) {
  const auto& rows = evidence.once(make_cells);
  std::string rates;
  for (const auto& name : row.cells) {
    const auto cell = std::find_if(rows.begin(), rows.end(), [&](const auto& one) {
      return one.cell == name && (!evidence.from_counts() || one.subset == row.context);
    });
    rates += (rates.empty() ? "" : " ") + (cell == rows.end() ? "-" : rate_word(cell->total));
  }
  return rates;
}

std::string test_note(const Evidence& evidence, std::size_t rows) {
  if (evidence.from_counts()) return "from counts: unpaired, by the interval alone";
  return fmt::format("sign-flip test over tasks; adjusted p: over the {} row{} of this table", rows,
                     rows == 1 ? "" : "s");
}

Sheet display_interactions(const Evidence& evidence) {
  const auto& rows = evidence.once(make_interactions);
  Sheet sheet{.caption = caption_of(evidence, "do two factors help each other? (p11 - p10) - (p01 - p00) in points"),
              .columns = {{"first"},
                          {"second"},
                          {evidence.from_counts() ? "subset" : "others"},
                          {"tasks", Align::right},
                          {"p00 p01 p10 p11"},
                          {"interaction", Align::right},
                          {"interval"},
                          {"p", Align::right},
                          {adjusted_head(evidence), Align::right},
                          {"verdict"}},
              .notes = {"p00, p01, p10, p11: pass rates in percent; the first digit says whether the first factor is "
                        "changed, the second digit the second",
                        test_note(evidence, rows.size())}};
  for (const auto& row : rows) {
    sheet.rows.push_back({row.first, row.second, dash(row.context), std::to_string(row.tasks),
                          rates_word(evidence, row), points(row.difference), interval_word(row.interval), p_word(row.p),
                          p_word(row.p_bh ? row.p_bh : row.p_holm),
                          row.verdict.empty() ? fmt::format("{} outstanding", row.outstanding) : row.verdict});
  }
  return sheet;
}

Sheet data_interactions(const Evidence& evidence) {
  Sheet sheet{.columns = data_columns({"first", "second", "context", "p00", "p01", "p10", "p11", "#tasks",
                                       "#outstanding", "#difference", "interval_method", "#interval_low",
                                       "#interval_high", "test", "#p", "#p_holm", "#p_bh", "verdict"})};
  for (const auto& row : evidence.once(make_interactions)) {
    Words words{row.first, row.second, row.context};
    words.insert(words.end(), row.cells.begin(), row.cells.end());
    words.insert(words.end(), {std::to_string(row.tasks), std::to_string(row.outstanding), fraction(row.difference)});
    push_interval(words, row.interval);
    words.insert(words.end(), {row.test, p_field(row.p), p_field(row.p_holm), p_field(row.p_bh), row.verdict});
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

std::string why_no_interactions(const Evidence& evidence) {
  return evidence.from_counts()
             ? "a 2x2 needs two models in the same two modes on one subset; add the missing cells, with `model` and "
               "`mode`, to the counts file"
             : "a 2x2 needs four cells: two values of one factor, each with the same two values of another, e.g. "
               "`cells: [{model: [m, n], mode: [ss, agent], prompt: p}]`; `factors:` of the grid, where it has them, "
               "must name values that were run";
}

}  // namespace

std::vector<InteractionRow> make_interactions(const Evidence& evidence) {
  return evidence.from_counts() ? interactions_of_counts(evidence) : Interactions(evidence).make();
}

Table interactions_table() {
  return {.name = "interactions",
          .display = display_interactions,
          .data = data_interactions,
          .why_empty = why_no_interactions,
          .from = From::both};
}

}  // namespace nkigrid::aggregate
