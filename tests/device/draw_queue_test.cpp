#include "runner/device/check/draw_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nkigrid::device {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::HasSubstr;

/// Tasks that take as long as they like, on a clock that is moved by hand.
class Played {
 public:
  /// @param needs of its draw, when it has a place
  void comes(const std::string& task, milliseconds needs) {
    waiting_.push_back({queue_.join({task, task}, now()), task, needs, at_, {}});
  }

  /// A step of 100 ms: who is ready goes, and everybody who waits asks.
  void step() {
    at_ += 100ms;
    std::erase_if(running_, [&](const One& one) {
      if (at_ - one.began < one.needs) return false;
      queue_.leave(one.draw, now());
      ended_[one.task] = at_ - one.came;
      return true;
    });
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < waiting_.size() && !moved; ++i) moved = asks(i);
    }
  }
  void steps_until(milliseconds time) {
    while (at_ < time) step();
  }

  bool draws(const std::string& task) const {
    return std::ranges::any_of(running_, [&](const One& one) { return one.task == task; });
  }
  /// How long it took from coming to its end. @returns -1 s when it has not ended
  milliseconds took(const std::string& task) const { return ended_.contains(task) ? ended_.at(task) : -1s; }
  int stops_of(const std::string& task) { return stops_[task]; }
  std::size_t running() const { return running_.size(); }

 private:
  struct One {
    DrawQueue::Draw draw;
    std::string task;
    milliseconds needs, came, began;
  };
  DrawQueue::Time now() const { return DrawQueue::Time(1h + at_); }

  bool asks(std::size_t i) {
    const auto answer = queue_.ask(waiting_[i].draw, now());
    EXPECT_GT(answer.look_again, now());
    if (answer.may_begin) {
      auto one = waiting_[i];
      one.began = at_;
      queue_.begun(one.draw, now());
      running_.push_back(one);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    if (!answer.stop) return false;
    const auto stopped = std::ranges::find(running_, *answer.stop, &One::draw);
    auto one = *stopped;
    queue_.leave(one.draw, now());
    running_.erase(stopped);
    ++stops_[one.task];
    one.draw = queue_.join({one.task, one.task}, now());
    waiting_.push_back(one);
    return true;
  }

  DrawQueue queue_;
  milliseconds at_{0};
  std::vector<One> waiting_, running_;
  std::map<std::string, milliseconds> ended_;
  std::map<std::string, int> stops_;
};

constexpr milliseconds kForEver = 24h;

TEST(DrawQueue, OneWorkerMakesWhatTakesMoments) {
  Played played;
  for (const char* task : {"a", "b", "c", "d"}) played.comes(task, 300ms);
  for (int i = 0; i < 13; ++i) {
    played.step();
    EXPECT_LE(played.running(), 1U);
  }
  EXPECT_EQ(played.took("d"), 1300ms);
}

TEST(DrawQueue, ThreeThatTakeForEverLeaveAPlaceToWhoComesLater) {
  Played played;
  for (const char* task : {"a", "b", "c"}) played.comes(task, kForEver);
  played.steps_until(20s);
  EXPECT_EQ(played.running(), 3U) << "nobody is stopped while nobody waits";
  played.comes("honest", 300ms);
  played.steps_until(21s);
  EXPECT_EQ(played.took("honest"), 400ms);
  EXPECT_EQ(played.stops_of("c"), 1);
  EXPECT_EQ(played.stops_of("a") + played.stops_of("b"), 0);
}

TEST(DrawQueue, WhoIsKnownToBeSlowKeepsToTwoPlaces) {
  Played played;
  for (const char* task : {"a", "b", "c"}) played.comes(task, 8s);
  played.steps_until(40s);
  for (const char* task : {"a", "b", "c"}) played.comes(task, kForEver);
  played.steps_until(100s);
  EXPECT_TRUE(played.draws("a") && played.draws("b"));
  EXPECT_FALSE(played.draws("c")) << "a place is free, and not for it";
  played.comes("honest", 300ms);
  played.steps_until(101s);
  EXPECT_EQ(played.took("honest"), 400ms);
}

TEST(DrawQueue, ManyUnknownOnesThatNeverEndCostTheirFirstTurnEach) {
  Played played;
  for (int i = 0; i < 47; ++i) played.comes("endless " + std::to_string(i), kForEver);
  for (int i = 0; i < 3; ++i) played.comes("honest " + std::to_string(i), 800ms);
  played.steps_until(60s);
  for (int i = 0; i < 3; ++i) {
    EXPECT_GT(played.took("honest " + std::to_string(i)), 0s);
    EXPECT_LT(played.took("honest " + std::to_string(i)), 60s);
  }
  // Who comes while the endless ones have their second turns waits for one of these.
  for (int second = 61; second < 400; second += 20) {
    const auto late = "late " + std::to_string(second);
    played.comes(late, 300ms);
    played.steps_until(std::chrono::seconds(second + 8));
    EXPECT_GT(played.took(late), 0s) << second;
  }
  for (int i = 0; i < 47; ++i) EXPECT_LE(played.stops_of("endless " + std::to_string(i)), 2);
}

TEST(DrawQueue, AnHonestTaskThatTakesLongEndsAmongOthersThatDo) {
  Played played;
  for (const char* task : {"a", "b", "c", "d"}) played.comes(task, 8s);
  for (int i = 0; i < 30; ++i) played.comes("quick " + std::to_string(i), 500ms);
  played.steps_until(80s);
  for (const char* task : {"a", "b", "c", "d"}) EXPECT_GT(played.took(task), 0s) << task;
}

TEST(DrawQueue, WhatAWorkerTakesToGetReadyIsNotTheTasks) {
  DrawQueue queue;
  DrawQueue::Time now(1h);
  const auto cold = queue.join({"cold", "cold"}, now);
  ASSERT_TRUE(queue.ask(cold, now).may_begin);
  queue.begun(cold, now + 90s);
  queue.leave(cold, now + 90s + 500ms);
  const auto again = queue.join({"cold", "cold"}, now += 100s), first = queue.join({"new", "new"}, now);
  EXPECT_FALSE(queue.ask(first, now).may_begin) << "it is known no worse: who came first goes first";
  EXPECT_TRUE(queue.ask(again, now).may_begin);
}

TEST(DrawQueue, WhoWaitsForLongIsToldWhoTakesLong) {
  DrawQueue queue;
  DrawQueue::Time now(1h);
  std::vector<DrawQueue::Draw> slow;
  for (const char* task : {"L1/1", "L1/2"}) {
    slow.push_back(queue.join({task, task}, now - 6s));
    ASSERT_TRUE(queue.ask(slow.back(), now).may_begin);
    queue.begun(slow.back(), now);
    queue.leave(slow.back(), now + 6s);
    slow.back() = queue.join({task, task}, now);
  }
  for (const auto draw : slow) {
    ASSERT_TRUE(queue.ask(draw, now).may_begin);
    queue.begun(draw, now);
  }
  const auto waits = queue.join({"L1/1", "L1/3 by the same text"}, now);
  EXPECT_EQ(queue.ask(waits, now + 29s).words, "");
  EXPECT_EQ(queue.ask(waits, now + 29s).look_again, now + 30s);
  EXPECT_EQ(queue.ask(waits, now + 30s).words,
            "task 'L1/3 by the same text' has waited 30 s for a draw of its reference, as do 0 more; draws that take "
            "long: 'L1/1', 'L1/2'");
  EXPECT_EQ(queue.ask(waits, now + 60s).words, "") << "at most once a minute";
  EXPECT_THAT(queue.ask(waits, now + 90s).words, HasSubstr("has waited 90 s"));
}

}  // namespace
}  // namespace nkigrid::device
