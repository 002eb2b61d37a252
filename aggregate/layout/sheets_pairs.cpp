#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "aggregate/layout/sheets.hpp"
#include "aggregate/statistics/family.hpp"

namespace nkigrid::aggregate {
namespace {

const char* adjusted_head(const Tables& tables) { return tables.adjust == Adjust::bh ? "p BH" : "p Holm"; }

std::string adjusted_word(const PairRow& pair) { return p_word(pair.p_bh ? pair.p_bh : pair.p_holm); }

std::string verdict_word(const PairRow& pair) {
  if (!pair.verdict.empty()) return pair.verdict;
  return pair.outstanding > 0 ? fmt::format("{} outstanding", pair.outstanding) : "-";
}

// Whose p values are adjusted together.
std::string adjustment_note(const Tables& tables, const std::vector<PairRow>& rows) {
  std::map<std::string, std::size_t> families;
  for (const auto& row : rows) families[row.family] += tables.from_counts || is_in_family(row);
  std::vector<std::string> parts;
  for (const auto& [name, size] : families)
    parts.push_back(fmt::format("{} comparison{} of {}", size, size == 1 ? "" : "s",
                                families.size() == 1 ? "this table" : "family " + name));
  return fmt::format(
      "{} over the {}",
      tables.adjust == Adjust::bh ? "p BH: Benjamini and Hochberg (false discovery rate)," : "p Holm: adjusted",
      fmt::join(parts, ", apart from them the "));
}

Sheet data_of(const std::vector<PairRow>& pairs, const char* name) {
  Sheet sheet{name,
              "",
              data_columns({"a",
                            "b",
                            "scope",
                            "family",
                            "contrast",
                            "#tasks",
                            "#outstanding",
                            "#difference",
                            "interval_method",
                            "#interval_low",
                            "#interval_high",
                            "test",
                            "#p",
                            "#p_holm",
                            "verdict",
                            "#p_low",
                            "#p_high",
                            "subset",
                            "#p_bh",
                            "#p_holm_low",
                            "#p_holm_high"}),
              {},
              {}};
  for (const auto& pair : pairs) {
    std::vector<std::string> words{pair.a,
                                   pair.b,
                                   pair.scope,
                                   pair.family,
                                   pair.contrast,
                                   std::to_string(pair.tasks),
                                   std::to_string(pair.outstanding),
                                   fraction(pair.difference)};
    push_interval(words, pair.interval);
    for (const auto& word :
         {pair.test, p_field(pair.p), p_field(pair.p_holm), pair.verdict,
          pair.p_bounds ? p_field(pair.p_bounds->low) : "", pair.p_bounds ? p_field(pair.p_bounds->high) : "",
          pair.subset, p_field(pair.p_bh), pair.p_holm_bounds ? p_field(pair.p_holm_bounds->low) : "",
          pair.p_holm_bounds ? p_field(pair.p_holm_bounds->high) : ""})
      words.push_back(word);
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

std::string passes_word(const TaskCount& task) { return fmt::format("{}/{}", task.passed, task.replicates); }

}  // namespace

std::string p_word(const std::optional<double>& p) {
  if (!p) return "-";
  return *p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", *p);
}

std::string p_field(const std::optional<double>& p) { return p ? fmt::format("{}", rounded_p(*p)) : ""; }

std::string points(double difference) { return fmt::format("{:+.1f}", rounded(difference) * 100 + 0.0); }

std::string points(const std::optional<double>& difference) { return difference ? points(*difference) : "-"; }

double rounded_p(double p) noexcept { return std::strtod(fmt::format("{:.6g}", p).c_str(), nullptr); }

Sheet display_pairs(const Tables& tables) {
  Sheet sheet{"pairs",
              caption_of(tables, "paired differences a - b in points"),
              {{"a"},
               {"b"},
               {"scope"},
               {"tasks", Align::right},
               {"a - b", Align::right},
               {"interval"},
               {"test"},
               {"p", Align::right},
               {adjusted_head(tables), Align::right},
               {"verdict"}},
              {},
              {}};
  for (const auto& pair : tables.pairs) {
    sheet.rows.push_back({pair.a, pair.b, pair.scope, std::to_string(pair.tasks), points(pair.difference),
                          interval_word(pair.interval), pair.test, p_word(pair.p), adjusted_word(pair),
                          verdict_word(pair)});
  }
  sheet.notes.push_back(adjustment_note(tables, tables.pairs) +
                        "; the verdict goes by it. Intervals are of each row alone");
  return sheet;
}

Sheet data_pairs(const Tables& tables) { return data_of(tables.pairs, "pairs"); }

Sheet display_methods(const Tables& tables) {
  Sheet sheet{"methods",
              caption_of(tables, "mean pass rate of a method's checkpoints in percent"),
              {{"method"},
               {"mode"},
               {"prompt"},
               {"checkpoints", Align::right},
               {"tasks", Align::right},
               {"rate", Align::right},
               {"interval"},
               {"sd between checkpoints", Align::right}},
              {},
              {"interval: other checkpoints of the method and other tasks of this kind; none for one checkpoint, which "
               "says nothing about another"}};
  for (const auto& row : tables.methods) {
    sheet.rows.push_back({row.method, row.mode, row.prompt, std::to_string(row.cells.size()), std::to_string(row.tasks),
                          row.rate ? percent(*row.rate) : fmt::format("{} outstanding", row.outstanding),
                          interval_word(row.interval),
                          row.between_checkpoints ? percent(*row.between_checkpoints) : "-"});
  }
  return sheet;
}

Sheet data_methods(const Tables& tables) {
  Sheet sheet{"methods",
              "",
              data_columns({"method", "mode", "prompt", "cells", "#checkpoints", "#tasks", "#outstanding", "#rate",
                            "interval_method", "#interval_low", "#interval_high", "#between_checkpoints"}),
              {},
              {}};
  for (const auto& row : tables.methods) {
    std::vector<std::string> words{row.method,
                                   row.mode,
                                   row.prompt,
                                   fmt::format("{}", fmt::join(row.cells, " ")),
                                   std::to_string(row.cells.size()),
                                   std::to_string(row.tasks),
                                   std::to_string(row.outstanding),
                                   fraction(row.rate)};
    push_interval(words, row.interval);
    words.push_back(fraction(row.between_checkpoints));
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

Sheet display_method_pairs(const Tables& tables) {
  Sheet sheet{"method-pairs",
              caption_of(tables, "differences of methods a - b in points, for other checkpoints and tasks"),
              {{"a"},
               {"b"},
               {"others"},
               {"tasks", Align::right},
               {"a - b", Align::right},
               {"interval"},
               {"p", Align::right},
               {adjusted_head(tables), Align::right},
               {"verdict"}},
              {},
              {}};
  for (const auto& pair : tables.method_pairs) {
    sheet.rows.push_back({pair.a, pair.b, pair.contrast, std::to_string(pair.tasks), points(pair.difference),
                          interval_word(pair.interval), p_word(pair.p), adjusted_word(pair), verdict_word(pair)});
  }
  sheet.notes.push_back(adjustment_note(tables, tables.method_pairs));
  sheet.notes.push_back("no interval: one checkpoint on both sides, which says nothing about another one");
  return sheet;
}

Sheet data_method_pairs(const Tables& tables) { return data_of(tables.method_pairs, "method-pairs"); }

Sheet display_flips(const Tables& tables) {
  Sheet sheet{"flips",
              fmt::format("{}: tasks that two cells do not solve alike, passes of replicates, rule {}", tables.run,
                          to_string(tables.rule)),
              {{"a"}, {"b"}, {"task"}, {"in a", Align::right}, {"in b", Align::right}},
              {},
              {}};
  for (const auto& flip : tables.flips)
    sheet.rows.push_back({flip.a, flip.b, flip.task, passes_word(flip.in_a), passes_word(flip.in_b)});
  return sheet;
}

Sheet data_flips(const Tables& tables) {
  Sheet sheet{"flips",
              "",
              data_columns({"a", "b", "task", "#passed_a", "#replicates_a", "#passed_b", "#replicates_b"}),
              {},
              {}};
  for (const auto& flip : tables.flips) {
    sheet.rows.push_back({flip.a, flip.b, flip.task, std::to_string(flip.in_a.passed),
                          std::to_string(flip.in_a.replicates), std::to_string(flip.in_b.passed),
                          std::to_string(flip.in_b.replicates)});
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
