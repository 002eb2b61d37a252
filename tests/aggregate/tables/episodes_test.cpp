#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/aggregate/logged_run.hpp"
#include "tests/aggregate/made_evidence.hpp"

namespace nkigrid::aggregate {
namespace {

using test::data_rows, test::Ended, test::ended, test::LoggedRun, test::made_run, test::made_tasks, test::number_of;
using testing::Contains, testing::ElementsAre;
using EpisodesJson = nlohmann::json;

// Nine of ten episodes are scored; episode i took i + 1 turns.
test::MadeEvidence ended_variously(const TableOptions& options = {}) {
  auto made = made_run({"m.ss.p"}, made_tasks("L1", 10), 1, [](const EpisodeId& id) -> std::optional<log::End> {
    const int i = number_of(id);
    if (i == 9) return std::nullopt;
    auto end = ended(i < 5);
    end.turns = static_cast<std::uint32_t>(1 + i);
    if (i == 5 || i == 6) end.outcome = Outcome::compile_fail, end.code = Code::partition_limit;
    if (i == 7) end.outcome = Outcome::no_code;
    if (i == 8) end.code = Code::numeric_mismatch;
    return end;
  });
  return {std::move(made), options};
}

TEST(Errors, CountOutcomesAndGroups) {
  const auto row = EpisodesJson::parse(test::printed(ended_variously(), {"errors"}, Format::json))["errors"].at(0);
  EXPECT_EQ(row["scored"], 9);
  EXPECT_EQ(row["outcomes"], (EpisodesJson{{"pass", 5}, {"compile_fail", 2}, {"no_code", 1}, {"mismatch", 1}}));
  EXPECT_EQ(row["groups"], (EpisodesJson{{"TILE_LIMIT", 2}, {std::string(group_of(Code::numeric_mismatch)), 1}}));
}

TEST(Turns, CountPassesUpToEachOfThem) {
  const auto row = EpisodesJson::parse(test::printed(ended_variously(), {"turns"}, Format::json))["turns"].at(0);
  EXPECT_EQ(row["passed"], (EpisodesJson{1, 2, 3, 4, 5, 5, 5, 5, 5}));
  EXPECT_EQ(row["open"], (EpisodesJson{9, 8, 7, 6, 5, 4, 3, 2, 1}));
}

TEST(Turns, HaveTheIntervalOfTheirRate) {
  const test::MadeEvidence whole =
      made_run({"m.ss.p"}, made_tasks("L1", 10), 1, [](const EpisodeId& id) -> std::optional<log::End> {
        auto end = ended(number_of(id) < 3);
        end.turns = static_cast<std::uint32_t>(1 + number_of(id));
        return end;
      });
  // Wilson's interval of 3 of 10 by hand (z = 1.959964).
  EXPECT_THAT(data_rows(whole, "turns")[2],
              ElementsAre("m.ss.p", "10", "3", "3", "8", "0.3", "wilson", "0.107791", "0.603222"));
  // One episode is outstanding: a rate would be of nine.
  EXPECT_THAT(data_rows(ended_variously(), "turns")[2], ElementsAre("m.ss.p", "9", "3", "3", "7", "", "", "", ""));
  // Asked for all the same: Wilson's interval of 3 of 9.
  EXPECT_THAT(data_rows(ended_variously({.partial = true}), "turns")[2],
              ElementsAre("m.ss.p", "9", "3", "3", "7", "0.333333", "wilson", "0.120584", "0.645798"));
}

TEST(Turns, EndWithTheModesOwn) {
  const LoggedRun logged(test::usual_end);
  std::map<std::string, std::vector<std::string>> turns;
  for (const auto& row : data_rows(evidence_of(logged.run, logged.ledger), "turns")) turns[row[0]].push_back(row[2]);
  EXPECT_THAT(turns["m.ss.p"], ElementsAre("1"));
  EXPECT_THAT(turns["m.agent.p"], ElementsAre("1", "2", "3"));
}

TEST(Transitions, HoldTheFirstErrorAgainstTheLast) {
  const LoggedRun logged(test::usual_end);
  const auto turns = read_turn_facts(logged.run, logged.ledger);
  const auto evidence = evidence_of(logged.run, logged.ledger, {}, &turns);
  const auto rows = data_rows(evidence, "transitions");
  EXPECT_THAT(rows, Contains(ElementsAre("m.agent.p", "TILE_LIMIT", "pass", "24")));
  EXPECT_THAT(rows, Contains(ElementsAre("m.agent.p", "TILE_LIMIT", "TILE_LIMIT", "16")));
  EXPECT_THAT(rows, Contains(ElementsAre("m.ss.p", "none", "pass", "16")));
  const auto document = EpisodesJson::parse(test::printed(evidence, {"turns"}, Format::json));
  EXPECT_EQ(document["turns"][1]["open"], (EpisodesJson{40, 40, 40}));
  EXPECT_EQ(document["turns"][0]["open"], (EpisodesJson{40, 0, 0}));
}

TEST(Readings, CountRepliesByFlagAndEachOnce) {
  const LoggedRun logged([](const EpisodeId& id) {
    auto end = *test::usual_end(id);
    // Single shot: one turn an episode, 40 of them; two calls of a reply mended alike are one reply.
    if (id.cell == "m.ss.p" && number_of(id) < 5)
      end.flags = "args_mended=1 args_mended=1 call_recovered=hermes mended=3";
    return std::optional(end);
  });
  const auto turns = read_turn_facts(logged.run, logged.ledger);
  const auto rows = data_rows(evidence_of(logged.run, logged.ledger, {}, &turns), "readings");
  EXPECT_THAT(rows, Contains(ElementsAre("m.ss.p", "40", "args_mended", "10")));
  EXPECT_THAT(rows, Contains(ElementsAre("m.ss.p", "40", "call_recovered=hermes", "10")));
  EXPECT_THAT(rows, Contains(ElementsAre("m.ss.p", "40", "mended", "10")));
  EXPECT_THAT(rows, Contains(ElementsAre("m.agent.p", "120", "", "0")));
  EXPECT_EQ(rows.size(), 4u);
}

TEST(Rules, CountFlipsBetweenThem) {
  const LoggedRun logged([](const EpisodeId& id) {
    const int i = number_of(id);
    return Ended{.outcome = i < 6 ? Outcome::pass : Outcome::mismatch,
                 .strict = i < 4,
                 .best_passed = static_cast<std::int8_t>(i < 9)};
  });
  const auto evidence = evidence_of(logged.run, logged.ledger);
  // cell, scored, paper, strict, best, paper_not_strict, strict_not_paper, best_not_paper, paper_not_best
  EXPECT_THAT(data_rows(evidence, "rules").at(0), ElementsAre("m.ss.p", "40", "12", "8", "18", "4", "0", "6", "0"));
}

}  // namespace
}  // namespace nkigrid::aggregate
