#include "runner/heartbeat.hpp"

#include <gtest/gtest.h>

#include "runner/messages.hpp"

namespace nkigrid::runner {
namespace {

/// Keeps what is sent; nothing ever arrives by itself.
class Wire final : public mpi::Comm {
 public:
  Wire(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  void send(int destination, int tag, std::string, std::string_view) override {
    sent.emplace_back(destination, static_cast<Tag>(tag));
  }
  std::optional<mpi::Incoming> poll(std::string_view) override { return std::nullopt; }
  void barrier(std::string_view) override {}
  [[noreturn]] void abort(ExitCode code) override { std::_Exit(static_cast<int>(code)); }

  std::vector<std::pair<int, Tag>> sent;

 private:
  int rank_, size_;
};

struct Heartbeats : testing::Test {
  ManualClock clock;
  /// Looks once a second for `time`; `alive` ranks say something every 10 s. @returns who was lost first, and after how
  /// long
  std::optional<std::pair<int, Seconds>> live(Heartbeat& heartbeat, Seconds time, const std::vector<int>& alive) {
    const auto begun = clock.monotonic();
    for (auto passed = Seconds(0); passed <= time; passed += Seconds(1)) {
      if (static_cast<int>(passed.count()) % 10 == 0) {
        for (const int rank : alive) EXPECT_TRUE(heartbeat.took({rank, static_cast<int>(Tag::alive), {}}));
      }
      if (const auto lost = heartbeat.look()) return std::pair(*lost, clock.monotonic() - begun);
      clock.advance(Seconds(1));
    }
    return std::nullopt;
  }
};

TEST_F(Heartbeats, ARankThatFallsSilentIsLostAfterTwoMinutes) {
  Wire wire(0, 4);
  Heartbeat heartbeat(wire, clock);
  EXPECT_EQ(live(heartbeat, Seconds(600), {1, 2, 3}), std::nullopt);
  const auto lost = live(heartbeat, Seconds(600), {1, 3});
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->first, 2);
  EXPECT_NEAR(lost->second.count(), 120, 11);
}

TEST_F(Heartbeats, OtherRanksWatchRankZeroAlone) {
  Wire wire(2, 4);
  Heartbeat heartbeat(wire, clock);
  EXPECT_FALSE(heartbeat.took({0, static_cast<int>(Tag::start), {}}));
  const auto lost = live(heartbeat, Seconds(600), {1, 3});
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->first, 0);
  for (const auto& [to, tag] : wire.sent) EXPECT_TRUE(to == 0 && tag == Tag::alive);
  EXPECT_NEAR(static_cast<double>(wire.sent.size()), 12, 1) << "one each 10 s";
}

TEST_F(Heartbeats, WhoHasNotBegunAndWhoSealsHasHalfAnHour) {
  Wire wire(0, 2);
  Heartbeat heartbeat(wire, clock);
  EXPECT_EQ(live(heartbeat, Seconds(1500), {}), std::nullopt) << "it reads a long log";
  EXPECT_FALSE(heartbeat.took({1, static_cast<int>(Tag::want), {}}));
  EXPECT_TRUE(heartbeat.took({1, static_cast<int>(Tag::sealing), {}}));
  EXPECT_EQ(live(heartbeat, Seconds(1500), {}), std::nullopt);
  EXPECT_TRUE(live(heartbeat, Seconds(600), {}).has_value());
}

TEST_F(Heartbeats, AJobThatWasSuspendedLosesNobody) {
  Wire wire(0, 2);
  Heartbeat heartbeat(wire, clock);
  EXPECT_EQ(live(heartbeat, Seconds(60), {1}), std::nullopt);
  clock.advance(Seconds(7200));
  EXPECT_EQ(heartbeat.look(), std::nullopt);
  EXPECT_EQ(live(heartbeat, Seconds(60), {1}), std::nullopt);
}

TEST_F(Heartbeats, ARankAloneWatchesNobody) {
  Wire wire(0, 1);
  Heartbeat heartbeat(wire, clock);
  EXPECT_EQ(live(heartbeat, Seconds(3000), {}), std::nullopt);
  EXPECT_TRUE(wire.sent.empty());
}

}  // namespace
}  // namespace nkigrid::runner
