#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aggregate/layout/sheets.hpp"

namespace nkigrid::aggregate {

Sheet display_replicates(const Tables& tables) {
  Sheet sheet{"replicates",
              caption_of(tables, "what replicates tell, in percent"),
              {{"cell"},
               {"K", Align::right},
               {"run to run"},
               {"sd between tasks", Align::right},
               {"between replicates", Align::right},
               {"share of tasks", Align::right},
               {"tasks", Align::right},
               {"k", Align::right},
               {"pass@k", Align::right},
               {"interval"},
               {"pass^k", Align::right},
               {"interval"}},
              {},
              {"run to run: these tasks again; sd: of one episode's outcome (0 or 100), within levels; share of tasks: "
               "of its variance; near 1 "
               "replicates only repeat, and more of them cannot help",
               "pass@k: at least one of k passes; pass^k: all of k do"}};
  const bool single = std::none_of(tables.replicates.begin(), tables.replicates.end(),
                                   [](const auto& row) { return row.replicates > 1; });
  if (single) {
    sheet.notes.push_back(
        "one replicate a task: what replicates tell needs two; set `replicates: 3` in the grid and continue, or put "
        "runs of "
        "other seeds together (tables RUN RUN2)");
  }
  for (const auto& row : tables.replicates) {
    bool first = true;
    for (const auto& at : row.pass_at) {
      std::vector<std::string> words(6);
      if (first) {
        words = {row.cell, std::to_string(row.replicates),
                 row.run_to_run ? bracket(row.run_to_run->low, row.run_to_run->high) : "-"};
        words.push_back(row.variance ? percent(std::sqrt(row.variance->between_tasks)) : "-");
        words.push_back(row.variance ? percent(std::sqrt(row.variance->between_replicates)) : "-");
        const auto share = row.variance ? row.variance->share_of_tasks() : std::nullopt;
        words.push_back(share ? fmt::format("{:.2f}", *share) : "-");
      }
      first = false;
      for (const auto& word : {std::to_string(at.tasks), std::to_string(at.k), percent(at.any),
                               interval_word(at.any_interval), percent(at.all), interval_word(at.all_interval)})
        words.push_back(word);
      sheet.rows.push_back(std::move(words));
    }
  }
  return sheet;
}

Sheet data_replicates(const Tables& tables) {
  Sheet sheet{"replicates",
              "",
              data_columns({"cell", "#replicates", "#run_to_run_low", "#run_to_run_high", "#variance_between_tasks",
                            "#variance_between_replicates", "#share_of_tasks", "#k", "#tasks", "#pass_at_k",
                            "pass_at_k_method", "#pass_at_k_low", "#pass_at_k_high", "#pass_all_k", "pass_all_k_method",
                            "#pass_all_k_low", "#pass_all_k_high"}),
              {},
              {}};
  for (const auto& row : tables.replicates) {
    for (const auto& at : row.pass_at) {
      std::vector<std::string> words{row.cell, std::to_string(row.replicates)};
      push_range(words, row.run_to_run);
      words.push_back(row.variance ? fraction(row.variance->between_tasks) : "");
      words.push_back(row.variance ? fraction(row.variance->between_replicates) : "");
      const auto share = row.variance ? row.variance->share_of_tasks() : std::nullopt;
      words.push_back(share ? fraction(*share) : "");
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

Sheet rule_sheet(const Tables& tables) {
  Sheet sheet{"rules",
              fmt::format("{}: scored episodes that pass by each rule, and that pass by one rule and not by another",
                          tables.run),
              data_columns({"cell", "#scored", "#paper", "#strict", "#best", "#paper_not_strict", "#strict_not_paper",
                            "#best_not_paper", "#paper_not_best"}),
              {},
              {"paper: final kernel, atol and rtol; strict: final kernel, also relative error, finiteness, "
               "repeatability; best: the newest "
               "kernel that verify_kernel passed, by the paper's rule",
               "paper_not_strict: pass by the first and not by the second, and so on; best_not_paper: correct code "
               "that the agent gave up or broke again"}};
  for (const auto& row : tables.rules) {
    std::vector<std::string> words{row.cell};
    for (const auto count : {row.scored, row.paper, row.strict, row.best, row.paper_not_strict, row.strict_not_paper,
                             row.best_not_paper, row.paper_not_best})
      words.push_back(std::to_string(count));
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
