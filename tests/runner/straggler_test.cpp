// A slow rank, or a long episode, at the end of an element: ranks on a clock of the test's own, the runner's
// coordinator, dealer and requests.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <numeric>

#include "jobs/run_directory.hpp"
#include "runner/coordinator.hpp"
#include "runner/prefetch.hpp"
#include "tests/runner/plan_fixture.hpp"

namespace nkigrid::runner {
namespace {

/// Rank 0's communicator: what it sends lies in inboxes.
class Inboxes final : public mpi::Comm {
 public:
  explicit Inboxes(int ranks) : inboxes_(static_cast<std::size_t>(ranks)) {}
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return static_cast<int>(inboxes_.size()); }
  void send(int destination, int tag, std::string bytes, std::string_view) override {
    inboxes_[static_cast<std::size_t>(destination)].push_back({0, tag, std::move(bytes)});
  }
  std::optional<mpi::Incoming> poll(std::string_view) override { return std::nullopt; }
  void barrier(std::string_view) override {}
  [[noreturn]] void abort(ExitCode) override { std::abort(); }
  std::optional<mpi::Incoming> take(int rank) {
    auto& inbox = inboxes_[static_cast<std::size_t>(rank)];
    if (inbox.empty()) return std::nullopt;
    auto message = std::move(inbox.front());
    inbox.pop_front();
    return message;
  }

 private:
  std::vector<std::deque<mpi::Incoming>> inboxes_;
};

struct SimulatedRank {
  double slowness = 1;
  WorkRequests requests;
  std::deque<std::uint32_t> queue;
  std::multimap<double, std::uint32_t> running;  ///< end -> episode
  std::vector<std::uint32_t> ended;
};

constexpr std::uint32_t kLanesOfRank = 2;

/// An element of four ranks with two lanes each; episode i takes seconds[i] on a rank of slowness 1, and is dealt in
/// the order of the plan.
class Element {
 public:
  explicit Element(std::vector<double> seconds)
      : f_(static_cast<std::uint32_t>(seconds.size()) / 2),
        seconds_(std::move(seconds)),
        run_{.folder = {},
             .grid = f_.grid,
             .benchmark = {},
             .plan = f_.plan,
             .costs = {},
             .run_id = {},
             .grid_hash = {}},
        coordinator_(comm_, Dealer(run_.plan, run_.grid, f_.order, f_.ledger, false), PermitOffice(run_.grid),
                     Progress(2, false, true, clock_), clock_) {}

  SimulatedRank& rank(int r) { return ranks_[static_cast<std::size_t>(r)]; }

  void run() {
    for (talk(); next_end() < 1e300; talk()) {
      clock_.advance(Seconds(next_end()) - clock_.monotonic());
      for (int r = 0; r < comm_.size(); ++r) end_episodes(r);
    }
  }

  double now() const { return clock_.monotonic().count(); }
  std::vector<std::uint32_t> dealt;       ///< in the order of dealing
  std::uint32_t idle_beside_a_queue = 0;  ///< lanes that idled while an episode waited on another rank
  std::map<std::uint32_t, double> ended_at;

 private:
  double next_end() const {
    double next = 1e300;
    for (const auto& rank : ranks_) next = rank.running.empty() ? next : std::min(next, rank.running.begin()->first);
    return next;
  }

  /// Ranks ask and are dealt to until nobody has anything to say.
  void talk() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < comm_.size(); ++r) {
        while (const auto message = comm_.take(r)) moved = take(rank(r), *message) || moved;
        auto& it = rank(r);
        const auto idle = kLanesOfRank - static_cast<std::uint32_t>(it.running.size());
        const auto want = it.requests.ask(kLanesOfRank, idle, static_cast<std::uint32_t>(it.queue.size()),
                                          "n" + std::to_string(r), clock_.monotonic());
        if (want) coordinator_.handle({r, static_cast<int>(Tag::want), encode(*want)});
        moved = moved || want;
      }
    }
    std::uint32_t idle = 0, queued = 0;
    for (const auto& it : ranks_) {
      idle += kLanesOfRank - static_cast<std::uint32_t>(it.running.size());
      queued += static_cast<std::uint32_t>(it.queue.size());
    }
    idle_beside_a_queue += std::min(idle, queued);
  }

  bool take(SimulatedRank& it, const mpi::Incoming& message) {
    if (static_cast<Tag>(message.tag) != Tag::work) return false;
    const auto work = decode_work(message.bytes);
    it.requests.received(work.size());
    for (const auto& assignment : work) {
      dealt.push_back(assignment.episode);
      it.queue.push_back(assignment.episode);
    }
    while (it.running.size() < kLanesOfRank && !it.queue.empty()) {
      it.running.emplace(now() + seconds_[it.queue.front()] * it.slowness, it.queue.front());
      it.queue.pop_front();
    }
    return true;
  }

  void end_episodes(int r) {
    auto& it = rank(r);
    std::vector<Done> done;
    while (!it.running.empty() && it.running.begin()->first <= now()) {
      const auto episode = it.running.begin()->second;
      it.running.erase(it.running.begin());
      it.ended.push_back(episode);
      ended_at[episode] = now();
      done.push_back({.episode = episode, .ended = true, .outcome = Outcome::pass, .node = "n" + std::to_string(r)});
    }
    if (done.empty()) return;
    it.requests.ended(static_cast<std::uint32_t>(done.size()), clock_.monotonic());
    coordinator_.handle({r, static_cast<int>(Tag::done), encode(done)});
  }

  PlanFixture f_;
  std::vector<double> seconds_;
  jobs::Run run_;
  Inboxes comm_{4};
  ManualClock clock_;
  Coordinator coordinator_;
  std::array<SimulatedRank, 4> ranks_;
};

/// 400 s for the first episode, shorter and shorter down to a few seconds: the order that dealing_order() gives.
std::vector<double> falling_seconds(std::size_t count) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < count; ++i) seconds.push_back(400.0 / (1.0 + 0.2 * static_cast<double>(i)));
  return seconds;
}

TEST(Straggler, ASlowRankKeepsNobodysWorkBack) {
  const auto seconds = falling_seconds(400);
  Element element(seconds);
  element.rank(3).slowness = 30;
  element.run();
  ASSERT_EQ(element.ended_at.size(), 400u);
  EXPECT_EQ(element.idle_beside_a_queue, 0u);
  // Until the slow rank's own episodes are all that is left, six lanes share what it does not take: its work is what
  // its lanes hold.
  const auto& slow = element.rank(3).ended;
  EXPECT_LE(slow.size(), 2 * kLanesOfRank);
  double others = 0, last_of_others = 0;
  for (std::uint32_t episode = 0; episode < 400; ++episode) {
    if (std::find(slow.begin(), slow.end(), episode) != slow.end()) continue;
    others += seconds[episode];
    last_of_others = std::max(last_of_others, element.ended_at[episode]);
  }
  EXPECT_LE(last_of_others, others / 6 + 10) << "six lanes were busy to the end";
}

TEST(Straggler, LongEpisodesAreDealtFirstAndTheEndIsEven) {
  auto seconds = falling_seconds(400);
  Element element(seconds);
  element.run();
  std::vector<std::uint32_t> in_order(400);
  std::iota(in_order.begin(), in_order.end(), 0u);
  EXPECT_EQ(element.dealt, in_order);
  const double ideal = std::accumulate(seconds.begin(), seconds.end(), 0.0) / (4 * kLanesOfRank);
  EXPECT_LE(element.now(), std::max(ideal, seconds.front()) + seconds.back() * 2);
  EXPECT_EQ(element.ended_at.begin()->first, 0u);
  for (int r = 0; r < 4; ++r) EXPECT_GT(element.rank(r).ended.size(), 0u);
}

TEST(Straggler, AnEpisodeThatTakesLongerThanThoughtIsAllThatIsLeft) {
  auto seconds = falling_seconds(400);
  seconds[399] = 5000;  // dealt last, for nobody knew
  Element element(seconds);
  element.run();
  EXPECT_EQ(element.dealt.back(), 399u);
  double last_of_others = 0;
  for (std::uint32_t episode = 0; episode < 399; ++episode)
    last_of_others = std::max(last_of_others, element.ended_at[episode]);
  const double others = std::accumulate(seconds.begin(), seconds.end() - 1, 0.0) / (4 * kLanesOfRank);
  EXPECT_LE(last_of_others, std::max(others, seconds.front()) + 10);
  EXPECT_NEAR(element.now(), 5000 + others, 20) << "nothing but its own time follows";
  EXPECT_EQ(element.idle_beside_a_queue, 0u);
}

}  // namespace
}  // namespace nkigrid::runner
