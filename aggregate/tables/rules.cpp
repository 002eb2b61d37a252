#include "aggregate/evidence/counted_episodes.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

/// One cell under the three rules, and how verdicts move between them. Scored episodes.
struct RuleRow {
  std::string cell;
  std::uint64_t scored = 0, paper = 0, strict = 0, best = 0;
  std::uint64_t paper_not_strict = 0, strict_not_paper = 0;  ///< what the paper's tolerance lets through, and back
  std::uint64_t best_not_paper = 0, paper_not_best = 0;  ///< correct code that the agent broke again, and the reverse
};

std::vector<RuleRow> make_rules(const Evidence& evidence) {
  std::vector<RuleRow> rows;
  for (const auto& cell : evidence.scores) rows.push_back({.cell = evidence.cell(cell).id});
  visit_counted(evidence, [&](const CountedEpisode& episode) {
    const auto& end = episode.end;
    const bool paper = passed(end, Rule::paper), strict = passed(end, Rule::strict), best = passed(end, Rule::best);
    auto& row = rows[episode.row];
    ++row.scored;
    row.paper += paper, row.strict += strict, row.best += best;
    row.paper_not_strict += paper && !strict, row.strict_not_paper += strict && !paper;
    row.best_not_paper += best && !paper, row.paper_not_best += paper && !best;
  });
  return rows;
}

Sheet rule_sheet(const Evidence& evidence) {
  Sheet sheet{
      .caption =
          evidence.name + ": scored episodes that pass by each rule, and that pass by one rule and not by another",
      .columns = data_columns({"cell", "#scored", "#paper", "#strict", "#best", "#paper_not_strict",
                               "#strict_not_paper", "#best_not_paper", "#paper_not_best"}),
      .notes = {"paper: final kernel, atol and rtol; strict: final kernel, also relative error, finiteness, "
                "repeatability; best: the newest kernel that verify_kernel passed, by the paper's rule",
                "paper_not_strict: pass by the first and not by the second, and so on; best_not_paper: correct code "
                "that the agent gave up or broke again"}};
  for (const auto& row : evidence.once(make_rules)) {
    auto& words = sheet.rows.emplace_back(Words{row.cell});
    for (const auto count : {row.scored, row.paper, row.strict, row.best, row.paper_not_strict, row.strict_not_paper,
                             row.best_not_paper, row.paper_not_best})
      words.push_back(std::to_string(count));
  }
  return sheet;
}

}  // namespace

Table rules_table() { return {.name = "rules", .display = rule_sheet, .data = rule_sheet}; }

}  // namespace nkigrid::aggregate
