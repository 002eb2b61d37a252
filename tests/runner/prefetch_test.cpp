#include "runner/prefetch.hpp"

#include <gtest/gtest.h>

#include "jobs/run_directory.hpp"
#include "runner/coordinator.hpp"
#include "runner/poll_backoff.hpp"
#include "tests/runner/plan_fixture.hpp"

namespace nkigrid::runner {
namespace {

constexpr std::uint32_t kLanes = 4;

TEST(PrefetchWindow, LongEpisodesAreNeverAskedForAhead) {
  WorkRequests requests;
  for (int second = 1; second < 100; ++second) {
    requests.ended(1, Seconds(second));
    const auto want = requests.ask(kLanes, 1, 0, "n", Seconds(second));
    ASSERT_TRUE(want) << second;
    EXPECT_EQ(want->episodes, 1U);
    EXPECT_EQ(want->ahead, 0U);
    requests.received(1);
  }
}

TEST(PrefetchWindow, EpisodesThatTakeNoTimeAreAskedForInGrowingBatches) {
  WorkRequests requests;
  std::uint32_t ahead = 0;
  for (int i = 1; i < 40; ++i) {
    const Seconds now(i * 0.001);
    requests.ended(kLanes + ahead, now);
    if (const auto want = requests.ask(kLanes, kLanes, 0, "n", now)) ahead = want->ahead;
    requests.received(kLanes + ahead);
  }
  EXPECT_GE(ahead, 1000U);
  EXPECT_LE(ahead, 4096U);
}

TEST(PrefetchWindow, ARankWithNothingNewAsksNothing) {
  WorkRequests requests;
  ASSERT_TRUE(requests.ask(kLanes, kLanes, 0, "n", Seconds(1)));
  EXPECT_FALSE(requests.ask(kLanes, kLanes, 0, "n", Seconds(2)));
  requests.received(1);
  EXPECT_FALSE(requests.ask(kLanes, 3, 0, "n", Seconds(3)));
  EXPECT_TRUE(requests.ask(kLanes, 4, 0, "n", Seconds(4)));
}

TEST(PollBackoff, GrowsFromATenthToFiveMillisecondsAndStartsAnew) {
  PollBackoff pause;
  EXPECT_EQ(pause.next(), Seconds(0.0001));
  for (int i = 0; i < 10; ++i) pause.next();
  EXPECT_EQ(pause.next(), Seconds(0.005));
  pause.moved();
  EXPECT_EQ(pause.next(), Seconds(0.0001));
}

/// A coordinator on the loopback, and what it deals to rank 0.
struct Office {
  PlanFixture f;
  jobs::Run run;
  std::unique_ptr<mpi::Comm> comm = mpi::make_loopback();
  ManualClock clock;
  Coordinator coordinator;

  explicit Office(std::uint32_t tasks)
      : f(tasks),
        run{.folder = {}, .grid = f.grid, .benchmark = {}, .plan = f.plan, .costs = {}, .run_id = {}, .grid_hash = {}},
        coordinator(*comm, Dealer(run.plan, run.grid, f.order, f.ledger, false), PermitOffice(run.grid),
                    Progress(2, false, true, clock), clock) {}

  std::size_t deal(const Want& want) {
    coordinator.handle({.source = 0, .tag = static_cast<int>(Tag::want), .bytes = encode(want)});
    std::size_t dealt = 0;
    while (auto message = comm->poll("test")) {
      if (message->tag == static_cast<int>(Tag::work)) dealt += decode_work(message->bytes).size();
    }
    return dealt;
  }
};

TEST(Coordinator, WorkOnItsWayCountsAgainstWhatIsAskedFor) {
  Office office(50);
  EXPECT_EQ(office.deal({.episodes = 1, .node = "n"}), 1U);
  // The rank asks again before it has seen the first one: two lanes are idle, and one episode is on its way.
  EXPECT_EQ(office.deal({.episodes = 2, .received = 0, .node = "n"}), 1U);
  EXPECT_EQ(office.deal({.episodes = 2, .received = 2, .node = "n"}), 2U);
}

TEST(Coordinator, NothingIsDealtAheadNearTheEnd) {
  Office office(50);  // 100 episodes, one rank: ahead at most half of what waits
  EXPECT_EQ(office.deal({.episodes = 2, .ahead = 1000, .received = 0, .node = "n"}), 2U + 50U);
  EXPECT_EQ(office.deal({.episodes = 1, .ahead = 0, .received = 52, .node = "n"}), 1U);
  std::size_t dealt = 53;
  for (std::uint64_t i = 0; dealt < 100; ++i)
    dealt += office.deal({.episodes = 0, .ahead = 1000, .received = dealt, .node = "n"}) +
             office.deal({.episodes = 1, .received = dealt, .node = "n"});
  EXPECT_EQ(dealt, 100U);
}

}  // namespace
}  // namespace nkigrid::runner
