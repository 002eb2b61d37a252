#include "jobs/base/ids.hpp"

#include <gtest/gtest.h>

#include "jobs/base/error.hpp"

namespace nkigrid {
namespace {

TEST(Ids, EpisodeIdsReadBack) {
  const EpisodeId id{"novice.ss.naive", "L1/012_gelu", 17};
  EXPECT_EQ(to_string(id), "novice.ss.naive/L1/012_gelu#17");
  EXPECT_EQ(parse_episode_id(to_string(id)), id);
}

TEST(Ids, WhatIsNoEpisodeIdIsRefusedWithTheForm) {
  for (const auto* bad : {"", "a", "a/b#1", "a/L1/x", "a/L1/x#", "a/L1/x#0", "a/L1/x#-1", "a/L1/x#1x",
                          "a/L1/x#99999999999", "a/L1/x/y#1", "a/L1/ö#1", "#1", "a#1/L1/x"}) {
    try {
      parse_episode_id(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_EQ(std::string(error.what()), "not an episode id '" + std::string(bad) +
                                               "' (cell/task#replicate, e.g. novice.ss.rank-aware/L1/002_gelu#1)");
    }
  }
}

TEST(Ids, NamesAreAtMostFortyAndBeginWithALetterOrDigit) {
  EXPECT_TRUE(is_name("a"));
  EXPECT_TRUE(is_name("7B_model-x"));
  EXPECT_TRUE(is_name(std::string(40, 'a')));
  for (const auto& bad : {std::string(), std::string(41, 'a'), std::string("-a"), std::string("_a"), std::string("a.b"),
                          std::string("a b"), std::string("ä"), std::string("a\0", 2)}) {
    EXPECT_FALSE(is_name(bad)) << bad;
  }
}

TEST(Ids, TaskIdsAreLevelAndName) {
  EXPECT_TRUE(is_task_id("L1/012_gelu"));
  EXPECT_TRUE(is_task_id(std::string(24, 'L') + "/" + std::string(64, 'x')));
  for (const auto& bad :
       {std::string("L1"), std::string("/x"), std::string("L1/"), std::string("L1/a/b"), std::string("../x"),
        std::string("L1/.."), std::string(25, 'L') + "/x", "L/" + std::string(65, 'x')}) {
    EXPECT_FALSE(is_task_id(bad)) << bad;
  }
}

TEST(Ids, TheLongestLegalIdFitsTheLimit) {
  const EpisodeId id{std::string(40, 'm') + "." + std::string(40, 'o') + "." + std::string(40, 'p'),
                     std::string(24, 'L') + "/" + std::string(64, 't'), 4294967295U};
  EXPECT_LE(to_string(id).size(), kMaxEpisodeIdBytes);
}

}  // namespace
}  // namespace nkigrid
