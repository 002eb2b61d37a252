#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/evidence/population.hpp"
#include "aggregate/tables/pairs.hpp"
#include "tests/aggregate/made_evidence.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::made_run, test::made_tasks, test::number_of;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::Not;

ReadRun judged(const std::string& name, const test::Verdict& verdict, char key) {
  auto made = made_run({"m.ss.p"}, test::join(made_tasks("L1", 4), made_tasks("L2", 6)), 2, verdict);
  made.run.grid.name = name;
  made.run.run_id = name;
  for (auto& text : made.run.plan.keys) text[0] = key;
  for (auto& state : made.ledger.states) state.counted_attempt = 1;
  return {made.run, made.ledger};
}

log::End failed(Code code) {
  auto end = ended(false);
  end.outcome = outcome_of(code, Stage::trace);
  end.code = code;
  end.stage = Stage::trace;
  return end;
}

// Of four tasks of L1 two passed and two had wrong numbers; of six of L2 none had a kernel. Judged anew, one of L1 lost
// its pass, and one of L2 (both replicates) compiles no more: it has none to compile.
std::vector<ReadRun> two_verdicts() {
  const auto before = [](const EpisodeId& id) -> std::optional<log::End> {
    if (id.task[1] == '1') return number_of(id) < 2 ? ended(true) : failed(Code::numeric_mismatch);
    return failed(Code::partition_limit);
  };
  const auto after = [before](const EpisodeId& id) -> std::optional<log::End> {
    if (id.task == "L1/000") return failed(Code::numeric_mismatch);
    if (id.task == "L1/003" && id.replicate == 1) return ended(true);
    if (id.task == "L2/005") return failed(Code::unknown_api);
    return before(id);
  };
  return {judged("old", before, 'x'), judged("new", after, 'y')};
}

TEST(Changes, CountEpisodesByLevelAndErrorGroup) {
  const auto sources = two_verdicts();
  const auto population = merge_runs(sources);
  const auto evidence = evidence_of(population);
  EXPECT_THAT(test::data_rows(evidence, "changes"),
              ElementsAre(ElementsAre("m.ss.p", "new", "L1", "NUMERIC", "NUMERIC", "3"),
                          ElementsAre("m.ss.p", "new", "L1", "NUMERIC", "pass", "1"),
                          ElementsAre("m.ss.p", "new", "L1", "pass", "NUMERIC", "2"),
                          ElementsAre("m.ss.p", "new", "L1", "pass", "pass", "2"),
                          ElementsAre("m.ss.p", "new", "L2", "TILE_LIMIT", "API_NAME", "2"),
                          ElementsAre("m.ss.p", "new", "L2", "TILE_LIMIT", "TILE_LIMIT", "10")));
}

TEST(Changes, AreShownToPeopleWithoutWhatStayed) {
  const auto sources = two_verdicts();
  const auto population = merge_runs(sources);
  const auto text = test::printed(evidence_of(population), {"changes"}, Format::text);
  EXPECT_THAT(text, HasSubstr("m.ss.p@new: 15 of 20 episodes ended alike; 2 lost their pass, 1 won one"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("TILE_LIMIT +TILE_LIMIT")));
}

TEST(ChangeTests, CountWhatCameToEachEndingAndLeftIt) {
  const auto sources = two_verdicts();
  const auto population = merge_runs(sources);
  std::vector<std::vector<std::string>> counts;  // ending, before, after, came, left, tasks
  for (const auto& row : test::data_rows(evidence_of(population), "change-tests"))
    counts.emplace_back(row.begin() + 3, row.begin() + 9);
  EXPECT_THAT(counts, ElementsAre(ElementsAre("pass", "4", "3", "1", "2", "10"),
                                  ElementsAre("API_NAME", "0", "2", "2", "0", "10"),
                                  ElementsAre("NUMERIC", "4", "5", "2", "1", "10"),
                                  ElementsAre("TILE_LIMIT", "12", "10", "0", "2", "10")));
}

// A pass lost is a wrong number won: two rows, one question. Holm over p and p' multiplies the smaller by 2, not by 4.
TEST(ChangeTests, AQuestionThatTwoEndingsAskCountsOnce) {
  const auto sources = two_verdicts();
  const auto population = merge_runs(sources);
  std::map<std::string, std::pair<double, double>> found;  // ending: p, p_holm
  for (const auto& row : test::data_rows(evidence_of(population), "change-tests"))
    found[row[3]] = {std::stod(row[14]), std::stod(row[15])};
  for (const auto& [a, b] : {std::pair("pass", "NUMERIC"), std::pair("API_NAME", "TILE_LIMIT")}) {
    EXPECT_EQ(found.at(a), found.at(b));
    EXPECT_LE(found.at(a).second, 2 * found.at(a).first);
  }
  const double smaller = std::min(found.at("pass").first, found.at("API_NAME").first);
  const double adjusted = std::min(found.at("pass").second, found.at("API_NAME").second);
  EXPECT_DOUBLE_EQ(adjusted, std::min(1.0, 2 * smaller));
}

TEST(Changes, HaveTheirTestByLevelToo) {
  const auto sources = two_verdicts();
  const auto population = merge_runs(sources);
  TableOptions options;
  options.by = ScopesBy::level;
  const auto evidence = evidence_of(population, options);
  std::vector<std::string> scopes;
  for (const auto& row : evidence.once(make_pairs)) {
    if (row.contrast == "runs") scopes.push_back(row.scope + " " + row.family);
  }
  EXPECT_THAT(scopes, ElementsAre("all contrasts", "L1 by-level", "L2 by-level"));
}

}  // namespace
}  // namespace nkigrid::aggregate
