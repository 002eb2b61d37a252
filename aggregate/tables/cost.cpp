#include "aggregate/tables/cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "aggregate/statistics/drawn.hpp"
#include "aggregate/statistics/limits.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::aggregate {
namespace {

enum class Unit { usd, tokens };

/// The figures of some tasks of a cell.
struct Figures {
  std::vector<double> usd, tokens, passed;
  std::vector<TaskCount> tasks;  ///< for their strata
  std::vector<std::uint32_t> ids;

  const std::vector<double>& of(Unit unit) const { return unit == Unit::usd ? usd : tokens; }
  bool few_pass() const {
    return std::count_if(passed.begin(), passed.end(), [](double p) { return p > 0; }) <= kFewTasks;
  }
};

double total(const std::vector<double>& values) {
  double sum = 0;
  for (const auto value : values) sum += value;
  return sum;
}

double ratio(std::span<const double> sums) { return sums[0] / sums[1]; }
double ratio_of_ratios(std::span<const double> sums) { return (sums[0] / sums[1]) / (sums[2] / sums[3]); }

Figures only(const Figures& figures, const std::vector<std::uint32_t>& ids) {
  Figures kept;
  for (std::size_t i = 0; i < figures.ids.size(); ++i) {
    if (!std::binary_search(ids.begin(), ids.end(), figures.ids[i])) continue;
    kept.usd.push_back(figures.usd[i]);
    kept.tokens.push_back(figures.tokens[i]);
    kept.passed.push_back(figures.passed[i]);
    kept.tasks.push_back(figures.tasks[i]);
    kept.ids.push_back(figures.ids[i]);
  }
  return kept;
}

class Costs {
 public:
  explicit Costs(const Evidence& evidence) : evidence_(evidence), options_(evidence.options) {}

  CostRow make_row(const CellScores& cell) const {
    CostRow row{evidence_.cell(cell).id};
    Spend sum;
    std::uint64_t outstanding = 0;
    for (const auto& task : cell.tasks) {
      sum += spend_of(cell, task.task);
      row.scored += task.scored;
      row.passed += task.passed;
      outstanding += task.planned - task.scored;
    }
    row.tokens_in = sum.tokens_in, row.tokens_out = sum.tokens_out, row.llm_s = sum.llm_s;
    row.uncounted_tokens = sum.uncounted_tokens, row.uncounted_usd = sum.uncounted_usd;
    if (sum.usd > 0) row.usd = sum.usd;
    if (sum.llm_s > 0) row.tokens_per_s = static_cast<double>(sum.tokens_out) / sum.llm_s;
    if (row.passed > 0 && (outstanding == 0 || options_.partial)) add_ratios(row, figures_of(cell));
    return row;
  }

  void relate(CostRow& row, const CellScores& cell, const CostRow& to, const CellScores& baseline) const {
    if (!row.tokens_per_pass || !to.tokens_per_pass) return;
    const auto unit = row.usd && to.usd ? Unit::usd : Unit::tokens;
    const auto all = figures_of(cell);
    const auto other = only(figures_of(baseline), all.ids), own = only(all, other.ids);
    if (total(own.passed) <= 0 || total(other.passed) <= 0 || total(other.of(unit)) <= 0) return;
    row.relative = (total(own.of(unit)) / total(own.passed)) / (total(other.of(unit)) / total(other.passed));
    row.relative_unit = unit == Unit::usd ? "usd" : "tokens";
    if (&cell == &baseline || own.few_pass() || other.few_pass()) return;
    row.relative_interval =
        drawn_interval({{own.of(unit), own.passed, other.of(unit), other.passed}, strata_of(own.tasks)},
                       ratio_of_ratios, options_.confidence, keyed_hash({"relative cost", row.cell, to.cell}));
  }

 private:
  const Spend& spend_of(const CellScores& cell, std::uint32_t task) const {
    return evidence_.turns->spend[cell.cell * evidence_.run->plan.tasks.size() + task];
  }

  Figures figures_of(const CellScores& cell) const {
    Figures figures;
    for (const auto& task : cell.tasks) {
      if (task.scored == 0) continue;
      const auto& spend = spend_of(cell, task.task);
      figures.usd.push_back(spend.usd);
      figures.tokens.push_back(static_cast<double>(spend.tokens_in + spend.tokens_out));
      figures.passed.push_back(task.passed);
      figures.tasks.push_back({task.passed, task.scored, task.stratum});
      figures.ids.push_back(task.task);
    }
    return figures;
  }

  void add_ratios(CostRow& row, const Figures& figures) const {
    const auto passed = total(figures.passed);
    row.tokens_per_pass = total(figures.tokens) / passed;
    if (row.usd) row.usd_per_pass = total(figures.usd) / passed;
    if (figures.few_pass()) return;
    const auto interval = [&](Unit unit, const char* what) {
      return drawn_interval({{figures.of(unit), figures.passed}, strata_of(figures.tasks)}, ratio, options_.confidence,
                            keyed_hash({"cost", what, row.cell}));
    };
    row.tokens_per_pass_interval = interval(Unit::tokens, "tokens");
    if (row.usd) row.usd_per_pass_interval = interval(Unit::usd, "usd");
  }

  const Evidence& evidence_;
  const TableOptions& options_;
};

std::vector<std::string> cell_names(const Evidence& evidence) {
  std::vector<std::string> names;
  for (const auto& cell : evidence.scores) names.push_back(evidence.cell(cell).id);
  return names;
}

// The cell that costs are relative to.
std::size_t find_baseline(const Evidence& evidence) {
  if (!evidence.options.relative_to) return 0;
  const auto names = cell_names(evidence);
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), *evidence.options.relative_to) - names.begin());
}

void check_relative_to(const Evidence& evidence) {
  const auto names = cell_names(evidence);
  if (!evidence.turns || find_baseline(evidence) < names.size()) return;
  const auto& wanted = *evidence.options.relative_to;
  throw Error{ErrorCode::usage, fmt::format("no cell '{}' to relate costs to{}; the table has: {}", wanted,
                                            did_you_mean(wanted, names), fmt::join(names, ", "))};
}

std::string baseline_name(const Evidence& evidence) {
  return evidence.options.relative_to.value_or(cell_names(evidence).front());
}

std::string money(const std::optional<double>& usd) { return usd ? fmt::format("{:.4g}", *usd) : "-"; }

std::string whole(const std::optional<double>& value) { return value ? fmt::format("{:.0f}", *value) : "-"; }

std::string ends(const std::optional<Interval>& interval, int digits) {
  return interval ? fmt::format("[{:.{}g}, {:.{}g}]", interval->low, digits, interval->high, digits) : "-";
}

Words cost_words(const CostRow& row) {
  return {row.cell,
          fmt::format("{}/{}", row.passed, row.scored),
          std::to_string(row.tokens_in),
          std::to_string(row.tokens_out),
          money(row.usd),
          money(row.usd_per_pass),
          ends(row.usd_per_pass_interval, 4),
          whole(row.tokens_per_pass),
          ends(row.tokens_per_pass_interval, 5),
          row.tokens_per_s ? fmt::format("{:.1f}", *row.tokens_per_s) : "-",
          row.relative ? fmt::format("{:.3g}", *row.relative) : "-",
          row.relative_unit == "usd" ? "USD" : dash(row.relative_unit),
          ends(row.relative_interval, 3),
          std::to_string(row.uncounted_tokens)};
}

Sheet display_cost(const Evidence& evidence) {
  const auto& rows = evidence.once(make_costs);
  Sheet sheet{.caption = caption_of(evidence, "what a pass costs"),
              .columns = {{"cell"},
                          {"passed", Align::right},
                          {"tokens in", Align::right},
                          {"tokens out", Align::right},
                          {"USD", Align::right},
                          {"USD/pass", Align::right},
                          {"interval"},
                          {"tokens/pass", Align::right},
                          {"interval"},
                          {"tokens/s", Align::right},
                          {"relative", Align::right},
                          {"in"},
                          {"interval"},
                          {"tokens lost", Align::right}},
              .notes = {fmt::format("relative: cost of a pass against {}, on the tasks that both have; in USD, or in "
                                    "tokens where one has no price",
                                    baseline_name(evidence)),
                        "intervals: bca-drawn, tasks resampled; tokens/s: output tokens by the time of requests; "
                        "tokens lost: of attempts that do not count; no interval: at most five tasks pass"}};
  if (std::none_of(rows.begin(), rows.end(), [](const auto& row) { return row.usd; }))
    sheet.notes.push_back("no USD: no model of the grid has a `price`, or no reply counted its tokens");
  for (const auto& row : rows) sheet.rows.push_back(cost_words(row));
  return sheet;
}

Sheet data_cost(const Evidence& evidence) {
  Sheet sheet{.columns = data_columns({"cell",
                                       "#scored",
                                       "#passed",
                                       "#tokens_in",
                                       "#tokens_out",
                                       "#usd",
                                       "#llm_s",
                                       "#uncounted_tokens",
                                       "#uncounted_usd",
                                       "#usd_per_pass",
                                       "usd_per_pass_method",
                                       "#usd_per_pass_low",
                                       "#usd_per_pass_high",
                                       "#tokens_per_pass",
                                       "tokens_per_pass_method",
                                       "#tokens_per_pass_low",
                                       "#tokens_per_pass_high",
                                       "#tokens_per_s",
                                       "relative_to",
                                       "#relative",
                                       "relative_method",
                                       "#relative_low",
                                       "#relative_high",
                                       "relative_unit"})};
  for (const auto& row : evidence.once(make_costs)) {
    Words words{row.cell,
                std::to_string(row.scored),
                std::to_string(row.passed),
                std::to_string(row.tokens_in),
                std::to_string(row.tokens_out),
                fraction(row.usd),
                fraction(row.llm_s),
                std::to_string(row.uncounted_tokens),
                fraction(row.uncounted_usd),
                fraction(row.usd_per_pass)};
    push_interval(words, row.usd_per_pass_interval);
    words.push_back(fraction(row.tokens_per_pass));
    push_interval(words, row.tokens_per_pass_interval);
    words.push_back(fraction(row.tokens_per_s));
    words.push_back(baseline_name(evidence));
    words.push_back(fraction(row.relative));
    push_interval(words, row.relative_interval);
    words.push_back(row.relative_unit);
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

std::string why_no_costs(const Evidence&) { return "the turns were not read"; }

}  // namespace

std::vector<CostRow> make_costs(const Evidence& evidence) {
  std::vector<CostRow> rows;
  if (!evidence.turns) return rows;
  const Costs costs(evidence);
  for (const auto& cell : evidence.scores) rows.push_back(costs.make_row(cell));
  const auto baseline = find_baseline(evidence);
  for (std::size_t i = 0; i < rows.size() && baseline < rows.size(); ++i)
    costs.relate(rows[i], evidence.scores[i], rows[baseline], evidence.scores[baseline]);
  return rows;
}

Table cost_table() {
  return {.name = "cost",
          .display = display_cost,
          .data = data_cost,
          .why_empty = why_no_costs,
          .needs_turns = true,
          .repeats = false,
          .check_options = check_relative_to};
}

}  // namespace nkigrid::aggregate
