#include "aggregate/tables/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aggregate/tables/cells.hpp"
#include "aggregate/tables/table.hpp"

namespace nkigrid::aggregate {
namespace {

std::vector<std::uint32_t> interesting_counts(std::uint32_t replicates) {
  std::vector<std::uint32_t> counts;
  for (const std::uint32_t k : {1u, 2u, 3u, 5u, 10u, 20u, 50u, 100u}) {
    if (k < replicates) counts.push_back(k);
  }
  counts.push_back(replicates);
  return counts;
}

ReplicateRow replicate_row(const CellRow& cell, const CellScores& scores, double confidence) {
  ReplicateRow row{cell.cell, cell.total.replicates, cell.total.run_to_run, {}, {}, {}};
  const auto counts = scored_counts(scores.tasks);
  if (!cell.total.rate || counts.empty()) return row;
  row.between_replicates = variance_between_replicates(counts);
  row.variance = variance_split(counts);
  std::uint32_t most = 0;
  for (const auto& task : counts) most = std::max(most, task.replicates);
  for (const auto k : interesting_counts(most)) row.pass_at.push_back(pass_at_all_tasks(counts, k, confidence));
  auto& one = row.pass_at.front();  // pass@1 and pass^1 are the rate, and say what `cells` says
  one.any = one.all = *cell.total.rate;
  one.any_interval = one.all_interval = *cell.total.interval;
  return row;
}

// What is of the cell and not of k: in its first row only.
Words words_of_cell(const ReplicateRow& row) {
  const auto share = row.variance ? row.variance->share_of_tasks() : std::nullopt;
  return {row.cell,
          std::to_string(row.replicates),
          range_word(row.run_to_run),
          row.variance ? percent(std::sqrt(row.variance->between_tasks)) : "-",
          row.between_replicates ? percent(std::sqrt(*row.between_replicates)) : "-",
          share ? fmt::format("{:.2f}", *share) : "-"};
}

Words replicate_notes(const std::vector<ReplicateRow>& rows) {
  Words notes{
      "of these tasks: their true rate; sd: of one episode's outcome (0 or 100), within levels; share of tasks: "
      "of its variance; near 1 replicates only repeat, and more of them cannot help",
      "pass@k: at least one of k passes; pass^k: all of k do"};
  if (std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.between_replicates && !row.variance; }))
    notes.push_back("no sd between tasks, nor share: it is told within levels, and no level has two tasks");
  if (std::none_of(rows.begin(), rows.end(), [](const auto& row) { return row.replicates > 1; })) {
    notes.push_back(
        "one replicate a task: what replicates tell needs two; set `replicates: 3` in the grid and continue, or put "
        "runs of other seeds together (tables RUN RUN2)");
  }
  return notes;
}

Sheet display_replicates(const Evidence& evidence) {
  const auto& rows = evidence.once(make_replicates);
  Sheet sheet{.caption = caption_of(evidence, "what replicates tell, in percent"),
              .columns = {{"cell"},
                          {"K", Align::right},
                          {"of these tasks"},
                          {"sd between tasks", Align::right},
                          {"between replicates", Align::right},
                          {"share of tasks", Align::right},
                          {"tasks", Align::right},
                          {"k", Align::right},
                          {"pass@k", Align::right},
                          {"interval"},
                          {"pass^k", Align::right},
                          {"interval"}},
              .notes = replicate_notes(rows)};
  for (const auto& row : rows) {
    for (const auto& at : row.pass_at) {
      auto words = &at == &row.pass_at.front() ? words_of_cell(row) : Words(6);
      words.insert(words.end(), {std::to_string(at.tasks), std::to_string(at.k), percent(at.any),
                                 interval_word(at.any_interval), percent(at.all), interval_word(at.all_interval)});
      sheet.rows.push_back(std::move(words));
    }
  }
  return sheet;
}

Sheet data_replicates(const Evidence& evidence) {
  Sheet sheet{.columns =
                  data_columns({"cell", "#replicates", "#run_to_run_low", "#run_to_run_high", "#variance_between_tasks",
                                "#variance_between_replicates", "#share_of_tasks", "#k", "#tasks", "#pass_at_k",
                                "pass_at_k_method", "#pass_at_k_low", "#pass_at_k_high", "#pass_all_k",
                                "pass_all_k_method", "#pass_all_k_low", "#pass_all_k_high"})};
  for (const auto& row : evidence.once(make_replicates)) {
    for (const auto& at : row.pass_at) {
      Words words{row.cell, std::to_string(row.replicates)};
      push_range(words, row.run_to_run);
      words.push_back(row.variance ? fraction(row.variance->between_tasks) : "");
      words.push_back(fraction(row.between_replicates));
      words.push_back(fraction(row.variance ? row.variance->share_of_tasks() : std::nullopt));
      words.push_back(std::to_string(at.k));
      words.push_back(std::to_string(at.tasks));
      words.push_back(fraction(at.any));
      push_interval(words, at.any_interval);
      words.push_back(fraction(at.all));
      push_interval(words, at.all_interval);
      sheet.rows.push_back(std::move(words));
    }
  }
  return sheet;
}

std::string why_no_replicates(const Evidence&) {
  return "no cell has every episode scored; `nkigrid resume` scores the rest, --partial looks at those that are";
}

}  // namespace

std::vector<ReplicateRow> make_replicates(const Evidence& evidence) {
  const auto& cells = evidence.once(make_cells);
  std::vector<ReplicateRow> rows;
  for (std::size_t i = 0; i < cells.size(); ++i)
    rows.push_back(replicate_row(cells[i], evidence.scores[i], evidence.options.confidence));
  return rows;
}

Table replicates_table() {
  return {.name = "replicates", .display = display_replicates, .data = data_replicates, .why_empty = why_no_replicates};
}

}  // namespace nkigrid::aggregate
