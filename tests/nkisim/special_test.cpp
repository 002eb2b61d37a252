#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/nkisim/engine/run.hpp"
#include "tests/nkisim/make.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using Floats = std::vector<float>;

/// Runs a special over x (and values) and gives one destination of `count` values a partition.
template <class T = float>
std::vector<T> special(Special kind, std::vector<std::int64_t> shape, std::vector<Floats> inputs, std::int64_t count,
                       Dtype dtype = Dtype::float32, std::vector<double> attributes = {}) {
  Made m;
  SpecialOp op;
  op.kind = kind;
  op.head.instr = instr_of(kind);
  op.head.shape = shape;
  op.attributes = std::move(attributes);
  const auto result = m.tile(BufferKind::sbuf, {shape[0], count}, dtype);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::vector<std::int64_t> size{shape[0], static_cast<std::int64_t>(inputs[k].size()) / shape[0]};
    const auto param = m.param(size), tile = m.tile(BufferKind::sbuf, size);
    m.program.body.push_back({1, map(Instr::load, size, whole(tile, 2), {from(whole(param, 2))}, {}, Work::raw)});
    op.sources.push_back(from(whole(tile, 2)));
  }
  op.destinations.push_back(whole(result, 2));
  m.program.body.push_back({2, op});
  const auto out = m.output({shape[0], count}, dtype);
  m.program.body.push_back(
      {3, map(Instr::store, {shape[0], count}, whole(out, 2), {from(whole(result, 2))}, {}, Work::raw)});
  return run<T>(m.program, std::move(inputs));
}

TEST(Special, BnStatsAreOfEvenAndOddElements) {
  EXPECT_THAT(special(Special::bn_stats, {2, 5}, {{1, 10, 2, 20, 6, 0, 0, 0, 0, 0}}, 6),
              ElementsAre(3, 3, 14, 2, 15, 50, 3, 0, 0, 2, 0, 0));
}

TEST(Special, BnAggrJoinsGroups) {
  // Groups of 3 values (mean 3, 14) and 2 values (mean 15, 50): all five have mean 7.8 and variance 51.2 + ... = 264.8
  // / 5.
  const Floats out = special(Special::bn_aggr, {1, 6}, {{3, 3, 14, 2, 15, 50}}, 2);
  EXPECT_FLOAT_EQ(out[0], 7.8f);
  EXPECT_FLOAT_EQ(out[1], (14 + 50 + 3 * 4.8f * 4.8f + 2 * 7.2f * 7.2f) / 5);
}

const Floats kData{3, 9, 1, 9, 7, 0, 5, 2, 8, 4};

TEST(Special, Max8FallsAndKeepsEqualValues) {
  EXPECT_THAT(special(Special::max8, {1, 10}, {kData}, 8), ElementsAre(9, 9, 8, 7, 5, 4, 3, 2));
}

TEST(Special, FindIndex8GivesEqualValuesTheirPlacesInOrderAndAllBitsForNone) {
  EXPECT_THAT(
      special<std::uint32_t>(Special::find_index8, {1, 10}, {kData, {9, 8, 9, 7, 9, 4, 3, 77}}, 8, Dtype::uint32),
      ElementsAre(1, 8, 3, 4, 0xffffffffU, 9, 0, 0xffffffffU));
}

TEST(Special, MatchReplace8TakesEachPlaceOnce) {
  EXPECT_THAT(special(Special::match_replace8, {1, 10}, {kData, {9, 9, 8, 7, 5, 4, 3, 77}}, 10, Dtype::float32, {-1}),
              ElementsAre(-1, -1, 1, -1, -1, 0, -1, 2, -1, -1));
}

TEST(Special, StreamShuffleMovesPartitionsWithinGroupsOf32) {
  Floats data(64), want(64);
  std::vector<double> mask(32);
  for (std::size_t p = 0; p < 64; ++p) data[p] = static_cast<float>(p);
  for (std::size_t k = 0; k < 32; ++k) mask[k] = static_cast<double>(31 - k);
  for (std::size_t p = 0; p < 64; ++p) want[p] = static_cast<float>(p / 32 * 32 + 31 - p % 32);
  EXPECT_THAT(special(Special::stream_shuffle, {64, 1}, {data}, 1, Dtype::float32, mask), ElementsAreArray(want));
}

}  // namespace
}  // namespace nkigrid::nkisim
