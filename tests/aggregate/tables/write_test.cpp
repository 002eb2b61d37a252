#include "aggregate/tables/write.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "jobs/base/files.hpp"
#include "tests/aggregate/made_evidence.hpp"

namespace nkigrid::aggregate {
namespace {

using test::Ended, test::made_run, test::made_tasks, test::number_of;

// Writes a log by hand and gives the run that reads it.
jobs::Run logged_run(const std::filesystem::path& folder,
                     const std::function<std::optional<Ended>(const EpisodeId&)>& how) {
  auto run =
      made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 6), 2, [](const EpisodeId&) { return std::nullopt; }).run;
  run.folder = folder;
  run.grid.infra_retries = 5;
  test::write_log(run.log_folder(), "one", run.plan, how);
  return run;
}

std::optional<Ended> outcome_of_episode(const EpisodeId& id) {
  if (id.cell == "m.ss.p" && id.task == "L1/005" && id.replicate == 2) return std::nullopt;
  if (number_of(id) == 4) return Ended{.outcome = Outcome::api_error};
  return Ended{.outcome = number_of(id) < 2 ? Outcome::pass : Outcome::mismatch, .synthetic = true};
}

TEST(WriteTables, ReadsTheLogAndWritesEveryFile) {
  const TemporaryDirectory folder;
  const auto run = logged_run(folder.path(), outcome_of_episode);
  write_tables(run, folder.path() / "tables");
  const auto document = nlohmann::json::parse(read_file(folder.path() / "tables" / "tables.json"));
  EXPECT_EQ(document["outstanding"], 5);  // one never begun, two times two that the endpoint lost
  EXPECT_EQ(document["cells"][0]["passed"], 4);
  EXPECT_EQ(document["errors"][0]["outcomes"]["mismatch"], 5);
  EXPECT_EQ(document["turns"][0]["passed"][0], 4);
  EXPECT_EQ(document["categories"].size(), 4u);
  EXPECT_THAT(document["warnings"][0].get<std::string>(), testing::HasSubstr("not a language model"));
  EXPECT_FALSE(document.contains("cost")) << "times differ from run to run";
  const auto ledger = log::read_ledger(run);
  const auto turns = read_turn_facts(run, ledger);
  const auto evidence = evidence_of(run, ledger, {}, &turns);
  for (const std::string name :
       {"cells", "levels", "ablation", "pairs", "categories", "errors", "turns", "cost", "rules", "flips"}) {
    EXPECT_FALSE(read_file(folder.path() / "tables" / (name + ".txt")).empty());
    EXPECT_EQ(read_file(folder.path() / "tables" / (name + ".csv")), test::printed(evidence, {name}, Format::csv));
  }
}

TEST(WriteTables, OrderOfArrivalLeavesNoTrace) {
  const TemporaryDirectory first, second;
  const auto run = logged_run(first.path(), outcome_of_episode);
  // The same verdicts in two journals, the second half first, with a lost attempt before each counted one.
  auto other = run;
  other.folder = second.path();
  const auto half = [](bool late) {
    return [late](const EpisodeId& id) -> std::optional<Ended> {
      auto how = outcome_of_episode(id);
      if ((number_of(id) >= 3) != late) return std::nullopt;
      if (how) how->attempt = 2;
      return how;
    };
  };
  test::write_log(other.log_folder(), "late", other.plan, half(true));
  test::write_log(other.log_folder(), "early", other.plan, half(false));
  test::write_log(other.log_folder(), "lost", other.plan, [](const EpisodeId& id) -> std::optional<Ended> {
    return outcome_of_episode(id) ? std::optional(Ended{.outcome = Outcome::killed}) : std::nullopt;
  });
  write_tables(run, first.path() / "tables");
  write_tables(other, second.path() / "tables");
  for (const std::string name :
       {"tables.json", "cells.txt", "cells.csv", "levels.txt", "pairs.csv", "errors.csv", "categories.txt",
        "ablation.csv", "rules.csv", "transitions.csv", "turns.txt", "replicates.csv"}) {
    EXPECT_EQ(read_file(first.path() / "tables" / name), read_file(second.path() / "tables" / name)) << name;
  }
}

}  // namespace
}  // namespace nkigrid::aggregate
