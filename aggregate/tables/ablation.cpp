#include "aggregate/tables/ablation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "aggregate/evidence/factors.hpp"
#include "aggregate/evidence/shared_tasks.hpp"
#include "aggregate/tables/count_ablation.hpp"
#include "aggregate/tables/count_pairs.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::aggregate {
namespace {

/// Cells that differ in one factor only, in the grid's order: the first is the baseline.
struct Group {
  std::string context;
  std::vector<const CellScores*> cells;
};

Combination effect_of(const SharedTasks& shared) {
  Combination effect{shared.counts, {}, static_cast<int>(shared.counts.size() / 2)};
  for (std::size_t c = 0; c < shared.counts.size(); ++c) effect.coefficients.push_back(c % 2 == 0 ? 1 : -1);
  return effect;
}

class Ablation {
 public:
  explicit Ablation(const Evidence& evidence) : evidence_(evidence), options_(evidence.options) {}

  std::vector<AblationRow> make() {
    for (const std::string factor : kFactors) {
      const auto groups = groups_of(factor);
      for (const auto& group : groups) add_group(factor, group);
      add_means(factor, groups);
    }
    return std::move(rows_);
  }

 private:
  const std::string& value(const CellScores& cell, const std::string& factor) const {
    return factor_value(evidence_.cell(cell), factor);
  }

  std::vector<Group> groups_of(const std::string& factor) const {
    std::vector<Group> groups;
    for (const auto& cell : evidence_.scores) {
      const auto context = context_of(evidence_.cell(cell), factor);
      auto found =
          std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.context == context; });
      if (found == groups.end()) found = groups.insert(groups.end(), {context, {}});
      found->cells.push_back(&cell);
    }
    std::erase_if(groups, [](const auto& group) { return group.cells.size() < 2; });
    for (auto& group : groups) {
      std::stable_partition(group.cells.begin(), group.cells.end(),
                            [&](const auto* cell) { return value(*cell, factor) == options_.against; });
    }
    return groups;
  }

  void add_group(const std::string& factor, const Group& group) {
    const auto& baseline = *group.cells.front();
    for (const auto* cell : group.cells) {
      const auto& spec = evidence_.cell(*cell);
      AblationRow row{factor,
                      value(*cell, factor),
                      value(baseline, factor),
                      group.context,
                      spec.id,
                      spec.subset,
                      static_cast<std::uint32_t>(cell->tasks.size())};
      add_rate(row, *cell);
      if (cell != &baseline) compare(row, {cell, &baseline});
      rows_.push_back(std::move(row));
    }
  }

  void add_rate(AblationRow& row, const CellScores& cell) const {
    const auto counts = scored_counts(cell.tasks);
    for (const auto& task : cell.tasks) row.outstanding += task.planned - task.scored;
    if (counts.empty() || (row.outstanding > 0 && !options_.partial)) return;
    row.rate = mean_score(counts);
    row.rate_interval = rate_interval(counts, options_.confidence);
  }

  void compare(AblationRow& row, std::vector<const CellScores*> cells) const {
    const auto shared = share_tasks(cells);
    row.tasks = shared.tasks;
    row.outstanding = shared.outstanding;
    if (!is_ready(shared, options_.partial)) return;
    const auto effect = effect_of(shared);
    const auto found = aggregate::compare(effect, options_.confidence, options_.test);
    row.difference = found.value;
    row.interval = found.interval;
    row.scores = std::move(cells);
  }

  void add_means(const std::string& factor, const std::vector<Group>& groups) {
    if (groups.empty()) return;
    const auto& baseline = value(*groups.front().cells.front(), factor);
    std::vector<std::string> values;
    std::map<std::string, std::vector<const CellScores*>> cells;
    for (const auto& group : groups) {
      if (value(*group.cells.front(), factor) != baseline) continue;
      for (std::size_t i = 1; i < group.cells.size(); ++i) {
        auto& list = cells[value(*group.cells[i], factor)];
        if (list.empty()) values.push_back(value(*group.cells[i], factor));
        list.insert(list.end(), {group.cells[i], group.cells.front()});
      }
    }
    for (const auto& one : values) {
      const auto contexts = cells[one].size() / 2;
      if (contexts < 2) continue;
      AblationRow row{factor, one, baseline, fmt::format("mean of {}", contexts), "", ""};
      compare(row, cells[one]);
      if (row.tasks > 0) rows_.push_back(std::move(row));
    }
  }

  const Evidence& evidence_;
  const TableOptions& options_;
  std::vector<AblationRow> rows_;
};

RelativeChange relative_of(const AblationRow& row, double confidence) {
  if (!row.scores.empty()) {
    const auto shared = share_tasks(row.scores);
    return relative_change(effect_of(shared), confidence,
                           keyed_hash({"relative change", row.factor, row.value, row.baseline, row.context}));
  }
  if (row.printed.empty()) return {};
  const auto &cell = *row.printed[0], &base = *row.printed[1];
  const auto n = static_cast<double>(cell.n), n0 = static_cast<double>(base.n);
  return relative_change(static_cast<double>(cell.passed) / n, n, static_cast<double>(base.passed) / n0, n0,
                         confidence);
}

const char* reason_word(NoInterval reason) {
  switch (reason) {
    case NoInterval::no_baseline_passes:
      return "baseline never passes";
    case NoInterval::few_baseline_passes:
      return "few baseline passes";
    case NoInterval::few_passes:
      return "few passes";
    case NoInterval::few_differences:
      return "few differences";
    case NoInterval::no_variation:
      return "no variation";
    case NoInterval::has_one:
      break;
  }
  return "";
}

bool is_few(const AblationRow& row) { return std::string_view(reason_word(row.relative.reason)).starts_with("few"); }

Words ablation_words(const AblationRow& row) {
  const bool baseline = row.value == row.baseline;
  const std::string reason = reason_word(row.relative.reason);
  Words words{row.factor,
              row.value,
              row.context,
              dash(row.subset),
              std::to_string(row.tasks),
              row.rate ? percent(*row.rate) : "-",
              interval_word(row.rate_interval)};
  if (row.outstanding > 0 && !row.difference && !row.rate)
    words.back() = fmt::format("{} outstanding", row.outstanding);
  words.push_back(baseline ? "baseline" : points(row.difference));
  words.push_back(baseline ? "-" : interval_word(row.interval));
  words.push_back(row.relative.change ? fmt::format("{:+.0f} %", 100 * rounded(*row.relative.change) + 0.0) : "-");
  words.push_back(reason.empty() ? interval_word(row.relative.interval) : "none: " + reason);
  return words;
}

Words ablation_notes(const Evidence& evidence, const std::vector<AblationRow>& rows) {
  Words notes =
      evidence.from_counts()
          ? Words{"changes are between cells of one task set; which tasks passed is unknown, so they are unpaired",
                  "relative: change by the baseline's rate; mover-r: from the Wilson intervals of both rates"}
          : Words{"changes are paired on the tasks that the compared cells share; not adjusted for their number",
                  "relative: change by the baseline's rate; bca-drawn: 9999 resamples of the shared tasks within "
                  "levels"};
  if (std::any_of(rows.begin(), rows.end(), is_few))
    notes.push_back("few: at most five tasks, of which a resample may hold none");
  return notes;
}

Sheet display_ablation(const Evidence& evidence) {
  const auto& rows = evidence.once(make_ablation);
  Sheet sheet{.caption = caption_of(
                  evidence, evidence.from_counts()
                                ? "what one factor changes, the others held as far as the counts name them "
                                  "(prompts are unknown); rates in percent, changes in points"
                                : "what one factor changes, the others held; rates in percent, changes in points"),
              .columns = {{"factor"},
                          {"value"},
                          {"others"},
                          {"subset"},
                          {"tasks", Align::right},
                          {"rate", Align::right},
                          {"interval"},
                          {"change", Align::right},
                          {"interval of change"},
                          {"relative", Align::right},
                          {"interval of relative, %"}},
              .notes = ablation_notes(evidence, rows)};
  for (const auto& row : rows) sheet.rows.push_back(ablation_words(row));
  return sheet;
}

Sheet data_ablation(const Evidence& evidence) {
  Sheet sheet{.columns =
                  data_columns({"factor",         "value",      "baseline",        "context",         "cell",
                                "subset",         "#tasks",     "#outstanding",    "#rate",           "rate_method",
                                "#rate_low",      "#rate_high", "#difference",     "interval_method", "#interval_low",
                                "#interval_high", "#relative",  "relative_method", "#relative_low",   "#relative_high",
                                "relative_reason"})};
  for (const auto& row : evidence.once(make_ablation)) {
    Words words{row.factor,
                row.value,
                row.baseline,
                row.context,
                row.cell,
                row.subset,
                std::to_string(row.tasks),
                std::to_string(row.outstanding),
                fraction(row.rate)};
    push_interval(words, row.rate_interval);
    words.push_back(fraction(row.difference));
    push_interval(words, row.interval);
    words.push_back(fraction(row.relative.change));
    push_interval(words, row.relative.interval);
    words.push_back(reason_word(row.relative.reason));
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

std::string why_no_ablation(const Evidence& evidence) {
  return evidence.from_counts()
             ? kNoCountPairs
             : "no two cells differ in one of model, mode and prompt alone; add a value of one of them to an entry of "
               "`cells:`";
}

template <class Cells>
std::set<std::string> values_of(const Cells& cells) {
  std::set<std::string> values;
  for (const auto& cell : cells) values.insert({cell.model, cell.mode, cell.prompt});
  return values;
}

void check_against(const Evidence& evidence) {
  const auto& against = evidence.options.against;
  auto values = evidence.from_counts() ? values_of(evidence.counts->cells) : values_of(evidence.run->plan.cells);
  if (evidence.from_counts()) values.erase("");
  if (against.empty() || values.contains(against)) return;
  const std::vector<std::string> names(values.begin(), values.end());
  throw Error{ErrorCode::usage, fmt::format("no model, mode or prompt is named '{}'{}; there are: {}", against,
                                            did_you_mean(against, names), fmt::join(names, ", "))};
}

}  // namespace

std::vector<AblationRow> make_differences(const Evidence& evidence) {
  return evidence.from_counts() ? make_count_differences(evidence) : Ablation(evidence).make();
}

std::vector<AblationRow> make_ablation(const Evidence& evidence) {
  auto rows = evidence.once(make_differences);
  for (auto& row : rows) row.relative = relative_of(row, evidence.options.confidence);
  return rows;
}

Table ablation_table() {
  return {.name = "ablation",
          .display = display_ablation,
          .data = data_ablation,
          .why_empty = why_no_ablation,
          .from = From::both,
          .check_options = check_against};
}

}  // namespace nkigrid::aggregate
