#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/tables/registry.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::aggregate {
namespace {

using testing::HasSubstr;

void expect_refused(const std::vector<std::string>& words, Format format, const std::string& says) {
  try {
    parse_tables(words, format, From::runs);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

TEST(Names, UnknownTablesAreRefusedWithTheListOfThoseThatExist) {
  expect_refused({"cell"}, Format::text, "no table 'cell' (did you mean 'cells'?); this version has: cells, levels, ");
  expect_refused({"claims"}, Format::text, "no table 'claims'");
}

TEST(Csv, RefusesSeveralTablesInOneFile) { expect_refused({"all"}, Format::csv, "csv holds one table at a time"); }

std::vector<std::string> names_of_tables(const std::vector<std::string>& words, Format format, From from) {
  std::vector<std::string> names;
  for (const auto* table : parse_tables(words, format, from)) names.push_back(table->name);
  return names;
}

TEST(Names, ChooseEachTableOnceInTheOrderAskedFor) {
  EXPECT_THAT(names_of_tables({"pairs", "cells", "pairs"}, Format::text, From::runs),
              testing::ElementsAre("pairs", "cells"));
  EXPECT_THAT(names_of_tables({}, Format::text, From::runs), testing::ElementsAre("cells", "levels"));
  EXPECT_THAT(names_of_tables({}, Format::csv, From::counts), testing::ElementsAre("cells"));
  EXPECT_THAT(names_of_tables({}, Format::text, From::counts),
              testing::ElementsAre("cells", "levels", "modes", "ablation", "pairs", "interactions", "claims"));
}

TEST(Registry, EveryTableHasARowInTheDocument) {
  const auto page = read_file(NKIGRID_SOURCE_DIR "/docs/formats/tables.md");
  const auto begin = page.find("## Tables\n");
  const auto section = page.substr(begin, page.find("\n## ", begin) - begin);
  for (const auto& table : all_tables())
    EXPECT_NE(section.find('`' + table.name + '`'), std::string::npos) << table.name << ": docs/formats/tables.md";
}

}  // namespace
}  // namespace nkigrid::aggregate
