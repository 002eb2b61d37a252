#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "aggregate/evidence/factors.hpp"
#include "aggregate/statistics/combination.hpp"
#include "aggregate/tables/endings.hpp"
#include "aggregate/tables/family.hpp"
#include "aggregate/tables/pair_row.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

/// One way to end, in a cell and scope: how many episodes came to it and left it, tested over tasks as a paired
/// difference of rates is.
struct ChangeTestRow {
  std::string cell, run, scope, ending;
  std::uint64_t before = 0, after = 0, came = 0, left = 0;
  std::uint32_t tasks = 0;
  std::uint64_t outstanding = 0;
  std::optional<double> difference, p, p_holm, p_bh;
  std::optional<Interval> interval;
  std::string test, verdict;
  std::map<std::uint32_t, std::int64_t> gained;  ///< by task: came - left; where they differ
};

/// What came to one ending left the other, task by task: both rows ask the same question, with the sign turned.
bool are_mirrors(const ChangeTestRow& a, const ChangeTestRow& b) {
  return a.cell == b.cell && a.run == b.run && a.scope == b.scope &&
         std::equal(a.gained.begin(), a.gained.end(), b.gained.begin(), b.gained.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && x.second == -y.second; });
}

/// @param pairs of one cell and scope
ChangeTestRow test_ending(const Evidence& evidence, const std::vector<const EndingPair*>& pairs,
                          const std::string& ending) {
  ChangeTestRow row{.ending = ending};
  std::map<std::uint32_t, std::pair<TaskCount, TaskCount>> tasks;  // after, before
  for (const auto* pair : pairs) {
    auto& [after, before] =
        tasks.try_emplace(pair->task, TaskCount{0, 0, pair->stratum}, TaskCount{0, 0, pair->stratum}).first->second;
    const bool was = pair->before == ending, is = pair->after == ending;
    ++after.replicates, ++before.replicates;
    after.passed += is ? 1 : 0, before.passed += was ? 1 : 0;
    row.before += was ? 1 : 0, row.after += is ? 1 : 0;
    row.came += is && !was ? 1 : 0, row.left += was && !is ? 1 : 0;
    if (is != was) row.gained[pair->task] += is ? 1 : -1;
  }
  std::erase_if(row.gained, [](const auto& task) { return task.second == 0; });
  std::vector<TaskCount> after, before;
  for (const auto& [task, counts] : tasks) after.push_back(counts.first), before.push_back(counts.second);
  row.tasks = static_cast<std::uint32_t>(tasks.size());
  const bool once = std::all_of(after.begin(), after.end(), [](const auto& task) { return task.replicates == 1; });
  row.test = test_name(once, evidence.options.test);
  if (evidence.outstanding > 0 && !evidence.options.partial) return row;
  const auto found = compare(after, before, evidence.options.confidence, evidence.options.test);
  row.difference = found.value;
  row.interval = found.interval;
  row.p = found.p;
  return row;
}

/// Of rows in order: those that ask a question of their own, and the mirrors of each.
std::vector<std::vector<ChangeTestRow*>> questions(const std::vector<ChangeTestRow*>& rows) {
  std::vector<std::vector<ChangeTestRow*>> asked;
  for (auto* row : rows) {
    const auto same = std::find_if(asked.begin(), asked.end(),
                                   [&](const auto& question) { return are_mirrors(*question.front(), *row); });
    if (same != asked.end())
      same->push_back(row);
    else
      asked.push_back({row});
  }
  return asked;
}

constexpr VerdictWords kVerdicts{"more", "fewer"};

/// What the first row of a question was found to be, for its mirrors.
void mirror(const std::vector<ChangeTestRow*>& question) {
  const auto& first = *question.front();
  for (auto* row : question) {
    if (row == &first) continue;
    row->p_holm = first.p_holm, row->p_bh = first.p_bh;
    row->verdict = first.verdict == kVerdicts.positive   ? kVerdicts.negative
                   : first.verdict == kVerdicts.negative ? kVerdicts.positive
                                                         : first.verdict;
  }
}

/// All levels together are one family, and what is looked at by level another, as in `pairs`. A row that nothing came
/// to or left is in none: whatever the truth, its p would be 1. Mirrors are one question, and count once.
/// @source Tarone 1990, Biometrics 46:515
void adjust(std::vector<ChangeTestRow>& rows, const TableOptions& options) {
  std::vector<ChangeTestRow*> all, by_level;
  for (auto& row : rows)
    if (row.came + row.left > 0) (row.scope == "all" ? all : by_level).push_back(&row);
  for (const auto& rows_of : {all, by_level}) {
    const auto asked = questions(rows_of);
    std::vector<ChangeTestRow*> family;
    for (const auto& question : asked) family.push_back(question.front());
    adjust_rows(family, options, kVerdicts);
    for (const auto& question : asked) mirror(question);
  }
}

/// In the order of cells, scopes (all, then each level) and endings.
std::vector<ChangeTestRow> make_change_tests(const Evidence& evidence) {
  std::map<std::pair<std::size_t, std::string>, std::vector<const EndingPair*>> scopes;
  for (const auto& pair : evidence.once(make_ending_pairs)) {
    scopes[{pair.row, ""}].push_back(&pair);
    if (evidence.options.by == ScopesBy::level) scopes[{pair.row, evidence.levels[pair.stratum]}].push_back(&pair);
  }
  std::vector<ChangeTestRow> rows;
  for (const auto& [scope, pairs] : scopes) {
    std::set<std::pair<bool, std::string>> endings;  // a pass first
    for (const auto* pair : pairs)
      for (const auto& word : {pair->before, pair->after}) endings.emplace(word != "pass", word);
    for (const auto& [other, ending] : endings) {
      auto& row = rows.emplace_back(test_ending(evidence, pairs, ending));
      const auto& id = evidence.cell(evidence.scores[scope.first]).id;
      row.cell = plain_cell(id), row.run = run_of(id);
      row.scope = scope.second.empty() ? "all" : scope.second;
    }
  }
  adjust(rows, evidence.options);
  return rows;
}

Sheet data_change_tests(const Evidence& evidence) {
  Sheet sheet{.columns = data_columns({"cell", "run", "scope", "ending", "#before", "#after", "#came", "#left",
                                       "#tasks", "#difference", "interval_method", "#interval_low", "#interval_high",
                                       "test", "#p", "#p_holm", "#p_bh", "verdict"})};
  for (const auto& row : evidence.once(make_change_tests)) {
    Words words{row.cell,
                row.run,
                row.scope,
                row.ending,
                std::to_string(row.before),
                std::to_string(row.after),
                std::to_string(row.came),
                std::to_string(row.left),
                std::to_string(row.tasks),
                fraction(row.difference)};
    push_interval(words, row.interval);
    words.insert(words.end(), {row.test, p_field(row.p), p_field(row.p_holm), p_field(row.p_bh), row.verdict});
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

/// For people: endings that nothing came to or left say nothing.
Sheet display_change_tests(const Evidence& evidence) {
  Sheet sheet{
      .caption = caption_of(evidence, "ways to end that episodes came to and left in another run"),
      .columns = {{"cell"},
                  {"run"},
                  {"scope"},
                  {"ending"},
                  {"before", Align::right},
                  {"after", Align::right},
                  {"came", Align::right},
                  {"left", Align::right},
                  {"after - before", Align::right},
                  {"interval"},
                  {"p", Align::right},
                  {adjusted_head(evidence), Align::right},
                  {"verdict"}},
      .notes = {"p values are adjusted over the rows of all levels, and apart from them over those by level; two "
                "endings between which all moved are one question and count once"}};
  for (const auto& row : evidence.once(make_change_tests)) {
    if (row.came + row.left == 0) continue;
    sheet.rows.push_back({row.cell, row.run, row.scope, row.ending, std::to_string(row.before),
                          std::to_string(row.after), std::to_string(row.came), std::to_string(row.left),
                          points(row.difference), interval_word(row.interval), p_word(row.p),
                          p_word(row.p_bh ? row.p_bh : row.p_holm), dash(row.verdict)});
  }
  return sheet;
}

}  // namespace

Table change_tests_table() {
  return {.name = "change-tests",
          .display = display_change_tests,
          .data = data_change_tests,
          .why_empty = why_no_ending_pairs};
}

}  // namespace nkigrid::aggregate
