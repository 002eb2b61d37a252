#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "runner/model/window.hpp"

namespace nkigrid::model {
namespace {

std::vector<Window::Place> enter_all(Window& window, std::size_t count) {
  std::vector<Window::Place> places;
  for (std::size_t i = 0; i < count; ++i) places.push_back(window.enter({}));
  return places;
}

/// A window that is full lets nobody in: a stop is answered at once.
bool is_full(Window& window) {
  std::stop_source stop;
  stop.request_stop();
  const auto place = window.enter(stop.get_token());
  if (place.given) window.leave(place, Window::Heard::nothing);
  return !place.given;
}

TEST(Window, IsOpenUntilTheEndpointComplainsAndThenHalf) {
  Window window;
  auto places = enter_all(window, 40);
  EXPECT_EQ(window.leave(places.back(), Window::Heard::too_many), 20u);
  places.pop_back();
  EXPECT_TRUE(is_full(window));
  for (int i = 0; i < 20; ++i) window.leave(places[i], Window::Heard::nothing);
  EXPECT_FALSE(is_full(window));
}

TEST(Window, SaysHowManyTheEndpointTakesBelowWhatTheGridAllows) {
  Window window(4);
  EXPECT_EQ(window.limit(), 0u);
  auto places = enter_all(window, 4);
  window.leave(places[0], Window::Heard::too_many);
  EXPECT_EQ(window.limit(), 2u);
  for (int i = 1; i < 4; ++i) window.leave(places[i], Window::Heard::nothing);
  for (int i = 0; i < 20; ++i) window.leave(window.enter({}), Window::Heard::reply);
  EXPECT_EQ(window.limit(), 0u) << "it takes all again";
}

TEST(Window, OneBurstOfComplaintsIsOne) {
  Window window;
  const auto places = enter_all(window, 32);
  EXPECT_EQ(window.leave(places[0], Window::Heard::too_many), 16u);
  for (int i = 1; i < 32; ++i) EXPECT_EQ(window.leave(places[i], Window::Heard::too_many), 0u);
  const auto after = enter_all(window, 16);
  EXPECT_TRUE(is_full(window));
  EXPECT_EQ(window.leave(after[0], Window::Heard::too_many), 8u);
}

TEST(Window, GrowsByOneARoundOfReplies) {
  Window window;
  auto places = enter_all(window, 8);
  window.leave(places[0], Window::Heard::too_many);  // 4
  for (int i = 1; i < 8; ++i) window.leave(places[i], Window::Heard::nothing);
  for (const std::size_t size : {4U, 5U, 6U}) {
    places = enter_all(window, size);
    EXPECT_TRUE(is_full(window)) << size;
    for (const auto& place : places) window.leave(place, Window::Heard::reply);
    // A round of replies adds a little less than one, for the limit grows within it.
    places = enter_all(window, size);
    window.leave(places[0], Window::Heard::reply);
    for (std::size_t i = 1; i < size; ++i) window.leave(places[i], Window::Heard::nothing);
  }
}

TEST(Window, HalfOfWhatTheGridAllowsIsHalfOfThatWhateverWaits) {
  Window window(4);
  const auto places = enter_all(window, 4);
  EXPECT_TRUE(is_full(window)) << "a hundred lanes may wait here";
  EXPECT_EQ(window.leave(places[0], Window::Heard::too_many), 2u);
  for (int i = 1; i < 4; ++i) window.leave(places[i], Window::Heard::reply);
  for (int i = 0; i < 9; ++i) window.leave(window.enter({}), Window::Heard::reply);
  enter_all(window, 4);
  EXPECT_TRUE(is_full(window)) << "replies raise it no further";
}

TEST(Window, NeverClosesWhole) {
  Window window;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(window.leave(window.enter({}), Window::Heard::too_many), 1u);
  EXPECT_FALSE(is_full(window));
}

TEST(Window, NoPlaceIsFreeWhileALaneSleeps) {
  constexpr int kLanes = 8, kEach = 300;
  Window window(3);
  std::atomic<int> in_flight{0}, most{0}, done{0};
  {
    std::vector<std::jthread> lanes;
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes.emplace_back([&, lane] {
        for (int n = 0; n < kEach; ++n) {
          const auto place = window.enter({});
          const int now = ++in_flight;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          --in_flight;
          window.leave(place, n % 50 == lane ? Window::Heard::too_many : Window::Heard::reply);
          ++done;
        }
      });
    }
  }  // a lane that nobody wakes would sleep on for ever
  EXPECT_EQ(done, kLanes * kEach);
  EXPECT_LE(most, 3);
}

}  // namespace
}  // namespace nkigrid::model
