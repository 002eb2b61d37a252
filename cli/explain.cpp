#include "cli/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "aggregate/tables/registry.hpp"
#include "jobs/base/wrapped.hpp"

namespace nkigrid::cli {
namespace {

/// A column of some tables. tables: names between blanks; "": any that has it. What names one table stands before what
/// is of all.
struct Column {
  std::string_view tables, name, meaning, page;
};

constexpr std::string_view kIntervals = "docs/decisions/intervals.md";
constexpr std::string_view kTables = "docs/formats/tables.md";

constexpr std::array kColumns = {
    Column{" cells levels categories ablation pairs interactions method-pairs methods replicates ", "tasks",
           "tasks of the row, or those that both sides of a comparison have", ""},
    Column{" cells levels categories ", "replicates", "the most repeats that one of its tasks is planned with", ""},
    Column{" cells levels categories ", "episodes", "planned episodes: tasks times replicates", ""},
    Column{" cells levels categories cost ", "passed", "episodes whose final kernel passes, by the rule asked for", ""},
    Column{" cells levels categories ablation pairs interactions method-pairs methods ", "outstanding",
           "planned episodes without a scored outcome", ""},
    Column{" cost rules turns errors ", "scored", "episodes with a scored outcome", ""},
    Column{" cells levels categories methods ", "rate",
           "mean over tasks of their pass fractions; empty while episodes are outstanding", kIntervals},
    Column{" cells levels categories ", "bounds_low, bounds_high",
           "with u of n outstanding: k/n and (k + u)/n, what the rate can still become", kTables},
    Column{
        " cells levels categories replicates ", "run_to_run_low, run_to_run_high",
        "interval of the true rate of these very tasks, which endless replicates would come to; no range for another "
        "run, whose rate scatters 1.4 times as wide",
        kIntervals},
    Column{" cells levels categories pairs methods turns interactions method-pairs change-tests ",
           "interval_method, interval_low, interval_high",
           "95 % interval for other tasks of these levels, and how it was made", kIntervals},
    Column{" modes ", "MODE_passed, MODE_episodes, MODE_rate, MODE_method, MODE_low, MODE_high",
           "a cell's rate and interval, a group of columns a mode", kIntervals},
    Column{" ablation ", "factor, value, baseline",
           "what varies (model, mode or prompt), its value, what it is held against", ""},
    Column{" ablation ", "context", "the other two factors; mean of N: over N contexts, on the tasks all share",
           kTables},
    Column{" ablation ", "rate, rate_method, rate_low, rate_high", "the value's pass rate with its interval",
           kIntervals},
    Column{" ablation ", "difference, interval_method, interval_low, interval_high",
           "its rate minus the baseline's, paired by task", kIntervals},
    Column{" ablation ", "relative, relative_method, relative_low, relative_high",
           "the same as a share of the baseline; drawn by a bootstrap of tasks", kIntervals},
    Column{" ablation ", "relative_reason", "why there is no relative change: too few passes or differences", kTables},
    Column{" pairs method-pairs flips ", "a, b", "the two that are compared; differences are a - b", ""},
    Column{" pairs method-pairs ", "scope", "all tasks, those of a level, or of a category", ""},
    Column{" pairs method-pairs ", "family, contrast",
           "whose p values are adjusted together; the grid's name of the pair", kTables},
    Column{" pairs method-pairs interactions change-tests ", "difference",
           "mean over shared tasks of the paired difference", kIntervals},
    Column{" pairs method-pairs interactions change-tests ", "test, p",
           "paired test over tasks, two-sided, and its p value", kIntervals},
    Column{" pairs method-pairs interactions change-tests ", "p_holm, p_bh",
           "p adjusted over the family: Holm's, or with --adjust bh the false discovery rate", kIntervals},
    Column{" pairs method-pairs ", "verdict", "a-better, b-better or not-separated, by the adjusted p", kTables},
    Column{" pairs method-pairs ", "p_low, p_high, p_holm_low, p_holm_high",
           "from printed counts: the least and the largest p over all pairings", "docs/formats/counts.md"},
    Column{" interactions ", "first, second, context, p00, p01, p10, p11",
           "two factors, what else holds, and the rates of the four cells that they make", kTables},
    Column{" interactions ", "verdict", "super-additive, sub-additive or not-separated", kTables},
    Column{" methods ", "cells, checkpoints", "cells of a method, and how many checkpoints they are of", ""},
    Column{" methods ", "between_checkpoints", "standard deviation of the checkpoints' true rates", kIntervals},
    Column{" flips ", "passed_a, replicates_a, passed_b, replicates_b", "how often a task passes in either cell", ""},
    Column{" change-tests ", "run, scope, ending", "cell@run, all tasks or those of a level, and a way to end",
           kTables},
    Column{" change-tests ", "before, after, came, left",
           "episodes that ended so in the plain cell, in cell@run; that did not before; that do not after", kTables},
    Column{" change-tests ", "tasks", "tasks of the row", ""},
    Column{" change-tests ", "verdict", "more, fewer or not-separated, by the adjusted p", kTables},
    Column{" changes ", "run, before, after", "how episodes ended in the plain cell, and in cell@run", kTables},
    Column{" errors ", "an outcome or a group of errors each", "episodes that ended so", kTables},
    Column{" transitions ", "first_error, last_error", "groups of errors of the first and the last turn that failed",
           kTables},
    Column{" transitions changes ", "episodes", "episodes that went so", ""},
    Column{" readings ", "replies", "replies that count", ""},
    Column{" readings ", "reading, times", "a way in which a reply was read that is not the plain one, and how often",
           "docs/formats/transcript.md"},
    Column{" turns ", "turn, passed", "episodes that passed within so many turns", ""},
    Column{" turns ", "open", "episodes that took at least so many turns", ""},
    Column{" turns ", "rate", "mean over tasks of the share that passed within them", kIntervals},
    Column{" replicates ", "replicates, k", "planned repeats of a task; how many are drawn", ""},
    Column{" replicates ", "variance_between_tasks, variance_between_replicates, share_of_tasks",
           "how an episode's variance splits: tasks are hard or easy, repeats differ", kIntervals},
    Column{" replicates ", "pass_at_k, pass_all_k", "chance that at least one, or each, of k repeats passes",
           kIntervals},
    Column{" cost ", "tokens_in, tokens_out, usd, llm_s", "of replies that count", ""},
    Column{" cost ", "uncounted_tokens, uncounted_usd", "of attempts that died, failed or were replaced", ""},
    Column{" cost ", "usd_per_pass, tokens_per_pass", "total over passes, with a bootstrap interval", kIntervals},
    Column{" cost ", "tokens_per_s", "output tokens by the time of requests", ""},
    Column{" cost ", "relative, relative_method, relative_low, relative_high",
           "cost of a pass over that of relative_to, on the tasks that both have; drawn by a bootstrap of tasks",
           kIntervals},
    Column{" cost ", "relative_to, relative_unit", "the cell that costs are held against, and in what", kTables},
    Column{" rules ", "paper, strict, best", "passes by each rule", kTables},
    Column{" rules ", "paper_not_strict, strict_not_paper, best_not_paper, paper_not_best",
           "episodes that pass by the first and not by the second", ""},
    Column{" estimates ", "scope, passed, estimated", "all or a level; kernels that pass; those with an estimate", ""},
    Column{" estimates ", "median_us", "median of the device's estimates", "docs/decisions/estimate.md"},
    Column{" estimates ", "median_to_fastest", "median of each kernel's estimate over the fastest of its task",
           kTables},
    Column{" claims ", "where, kind, printed, value, fits", "a printed claim, what the counts say, whether they agree",
           "docs/formats/counts.md"},
    Column{"", "cell, model, mode, prompt, subset, level, category, task, method", "names, as the grid has them", ""},
};

bool is_of(const Column& column, const std::string& table) {
  return column.tables.empty() || column.tables.find(" " + table + " ") != std::string_view::npos;
}

bool is_wanted(const std::string& table, const std::vector<std::string>& words) {
  const auto named = [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  return words.empty() || named("all") || named(table);
}

/// Refuses words that name no table. @throws Error{usage}
void check_words(const std::vector<std::string>& words) {
  for (const auto& word : words) {
    const auto& all = aggregate::all_tables();
    const bool known = std::any_of(all.begin(), all.end(), [&](const auto& table) { return table.name == word; });
    if (!known) aggregate::parse_tables({word}, aggregate::Format::text, aggregate::From::runs);
  }
}

}  // namespace

std::string explain_tables(const std::vector<std::string>& tables, std::size_t columns) {
  check_words(tables);
  std::string text;
  for (const auto& table : aggregate::all_tables()) {
    if (!is_wanted(table.name, tables)) continue;
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", table.name);
    for (const auto& column : kColumns) {
      if (!is_of(column, table.name)) continue;
      auto line = fmt::format("  {}: {}", column.name, column.meaning);
      if (!column.page.empty()) line += fmt::format(" ({})", column.page);
      text += wrapped(line, columns, 6) + "\n";
    }
  }
  return text;
}

}  // namespace nkigrid::cli
