#include "runner/log/turn_parts.hpp"

#include <gtest/gtest.h>

namespace nkigrid::log {
namespace {

TurnSummary row(std::uint32_t attempt, std::uint32_t turn, bool answered, double llm_s) {
  return {.attempt = attempt, .turn = turn, .answered = answered, .tokens_in = 10, .tokens_out = 3, .llm_s = llm_s};
}

using PartsOfTurns = std::vector<TurnPart>;
constexpr auto counted = TurnPart::counted, lost = TurnPart::lost, repeated = TurnPart::repeated;

TEST(TurnParts, AReplyThatALaterAttemptTookOverIsPaidForOnce) {
  const std::vector turns{row(1, 1, true, 0.5), row(1, 2, false, 0.7), row(2, 2, true, 0.7), row(2, 3, true, 0.9)};
  EXPECT_EQ(parts_of(turns, 2, 1), (PartsOfTurns{counted, repeated, counted, counted}));
}

TEST(TurnParts, OneThatDiesAgainAndAgainIsToldByTheLastThatHasIt) {
  const std::vector turns{row(1, 1, false, 0.5), row(2, 1, false, 0.5), row(3, 1, true, 0.5)};
  EXPECT_EQ(parts_of(turns, 3, 0), (PartsOfTurns{repeated, repeated, counted}));
  EXPECT_EQ(parts_of(std::span(turns).first(2), 0, 0), (PartsOfTurns{repeated, lost}));
}

TEST(TurnParts, AReplyThatWasAskedForAnewIsPaidForTwice) {
  const std::vector turns{row(1, 1, false, 0.5), row(2, 1, true, 0.6)};
  EXPECT_EQ(parts_of(turns, 2, 0), (PartsOfTurns{lost, counted}));
}

TEST(TurnParts, WhatTheCountedAttemptInheritedCountsWithIt) {
  const std::vector turns{row(1, 1, true, 0.5), row(1, 2, true, 0.6), row(2, 2, true, 0.7), row(3, 3, true, 0.8),
                          row(4, 4, true, 0.9)};
  EXPECT_EQ(parts_of(turns, 3, 2), (PartsOfTurns{counted, lost, counted, counted, lost}));
}

TEST(TurnParts, WithoutAScoreNothingCounts) {
  const std::vector turns{row(1, 1, true, 0.5), row(2, 2, true, 0.6)};
  EXPECT_EQ(parts_of(turns, 0, 0), (PartsOfTurns{lost, lost}));
}

}  // namespace
}  // namespace nkigrid::log
