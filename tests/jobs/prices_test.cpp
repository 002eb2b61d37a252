#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "fixture.hpp"
#include "jobs/grid/prices.hpp"

namespace nkigrid::jobs {
namespace {

using testing::HasSubstr;

constexpr const char* kTable = R"(# what two sellers ask
prices:
  - {model: org/m, from: 2026-01-01, input: 3, output: 15}
  - {model: org/m, from: 2026-07-01, input: 2, output: 10, cache_read: 0.2}
  - {model: org/m, api: anthropic, from: 2026-07-01, input: 4, output: 20}
  - {model: org/m, from: 2027-01-01, input: 1, output: 5}
)";

struct PriceTable : testing::Test {
  Sandbox box;

  GridResult read(const std::string& model, const std::string& day, const std::string& table = kTable) {
    box.write("prices.yaml", table);
    box.edit("grid.yaml", "strong: {api: synthetic, profile: strong}", "strong: {" + model + "}");
    box.edit("grid.yaml", "models:", "prices: prices.yaml\nmodels:");
    return read_grid(box.grid(), {}, {.day = day});
  }
  static std::string problems_of(const std::string& table) {
    const Sandbox other;
    other.write("prices.yaml", table);
    other.edit("grid.yaml", "models:", "prices: prices.yaml\nmodels:");
    return to_text(read_grid(other.grid(), {}, {.day = "2026-11-30"}).problems);
  }
};

constexpr const char* kOpenAi = "api: openai, endpoint: \"http://h/v1\", model: org/m";

TEST_F(PriceTable, ThePriceIsTheOneThatHeldOnTheDay) {
  const auto result = read(kOpenAi, "2026-11-30");
  ASSERT_TRUE(result.grid) << to_text(result.problems);
  const auto& price = result.grid->model("strong").price;
  ASSERT_TRUE(price);
  EXPECT_EQ(price->input_usd, 2);
  EXPECT_EQ(price->output_usd, 10);
  EXPECT_EQ(price->cache_read_usd, 0.2);
  EXPECT_EQ(price->from, "2026-07-01");
  for (const auto& [day, input] : {std::pair("2026-01-01", 3.0),
                                   {"2026-06-30", 3.0},
                                   {"2026-07-01", 2.0},
                                   {"2026-12-31", 2.0},
                                   {"2027-01-01", 1.0}})
    EXPECT_EQ(read_grid(box.grid(), {}, {.day = day}).grid->model("strong").price->input_usd, input) << day;
}

TEST_F(PriceTable, ARowOfAnApiIsOfItAlone) {
  const auto result = read("api: anthropic, model: org/m, max_tokens: 100", "2026-11-30");
  ASSERT_TRUE(result.grid) << to_text(result.problems);
  EXPECT_EQ(result.grid->model("strong").price->input_usd, 4);
}

TEST_F(PriceTable, AModelsOwnPriceWinsAndAModelWithoutAnEndpointNeedsNone) {
  const auto result = read(std::string(kOpenAi) + ", price: {input: 7, output: 9}", "2026-11-30");
  ASSERT_TRUE(result.grid) << to_text(result.problems);
  EXPECT_EQ(result.grid->model("strong").price->input_usd, 7);
  EXPECT_EQ(result.grid->model("strong").price->from, "");
  EXPECT_FALSE(result.grid->model("weak").price);
}

TEST_F(PriceTable, AModelThatItDoesNotHoldIsAProblem) {
  EXPECT_THAT(to_text(read(kOpenAi, "2025-12-31").problems),
              HasSubstr("models.strong: no price of 'org/m' (api openai) on 2025-12-31 in '"));
}

TEST_F(PriceTable, TheFrozenGridKeepsThePriceAndItsDay) {
  const auto result = read(kOpenAi, "2026-11-30");
  box.write("again.yaml", to_yaml(*result.grid));
  const auto again = read_grid(box.path() / "again.yaml", {}, {.day = "2027-11-30"});
  ASSERT_TRUE(again.grid) << to_text(again.problems);
  EXPECT_EQ(again.grid->model("strong").price->input_usd, 2) << "whatever holds by now";
  EXPECT_EQ(again.grid->model("strong").price->from, "2026-07-01");
}

TEST_F(PriceTable, WhatIsWrongWithItIsToldWithItsLine) {
  const auto text = problems_of(
      "prices:\n"
      "  - {model: m, from: 2026-02-30, input: 3, output: 15}\n"
      "  - {model: m, from: 26-02-01, input: 3}\n"
      "  - {model: m, api: opnai, from: 2026-01-01, input: -3, output: 1}\n"
      "  - {model: m, from: 2026-01-01, input: 3, output: 1, cached: 1}\n"
      "  - {model: m, from: 2026-01-01, input: 4, output: 1}\n");
  EXPECT_THAT(text, HasSubstr("line 2: prices[0].from is '2026-02-30' (a day is wanted, as 2026-01-31)"));
  EXPECT_THAT(text, HasSubstr("line 3: prices[1].output is missing"));
  EXPECT_THAT(text, HasSubstr("line 4: "));
  EXPECT_THAT(text, HasSubstr("opnai"));
  EXPECT_THAT(text, HasSubstr("line 5: unknown key 'cached'"));
  EXPECT_THAT(text, HasSubstr("line 6: prices[4] is a second price of 'm' from 2026-01-01"));
  EXPECT_THAT(problems_of("prices: 3\n"), HasSubstr("a list of rows is wanted"));
}

TEST_F(PriceTable, ADayOfTenBytesMayStillBeNone) {
  for (const char* day : {"2026- 1-31", "2026-01-+1", "+026-01-31", "-026-01-31", "2026--1-31"}) {
    const auto text = problems_of(fmt::format("prices:\n  - {{model: m, from: '{}', input: 3, output: 15}}\n", day));
    EXPECT_THAT(text, HasSubstr("a day is wanted")) << day;
  }
}

TEST(Today, IsADay) { EXPECT_THAT(today(), testing::MatchesRegex("20[0-9][0-9]-[01][0-9]-[0-3][0-9]")); }

}  // namespace
}  // namespace nkigrid::jobs
