#include "runner/model/servers/replicas.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

namespace nkigrid::model {
namespace {

using State = log::ServerNote::State;

/// Notes are small files, and a restart takes longer.
constexpr Seconds kLookEvery{1};
constexpr Seconds kDoubt{5};

}  // namespace

Replicas::Replicas(const ServerPlaces& places, const jobs::KeptServer& server, const Clock& clock)
    : log_folder_(places.log_folder), server_(server.name), clock_(clock) {
  for (std::uint32_t k = 0; k < server.spec->replicas; ++k)
    replicas_.push_back({.name = {places.owner, server.name, k}, .note = {}});
}

void Replicas::look() {
  const auto now = clock_.monotonic();
  if (looked_ && now - *looked_ < kLookEvery) return;
  looked_ = now;
  for (auto& replica : replicas_) replica.note = log::read_server_note(log_folder_, replica.name);
}

std::optional<Replicas::Place> Replicas::take() {
  const std::lock_guard lock(mutex_);
  look();
  const auto now = clock_.monotonic();
  Replica* best = nullptr;
  const auto rank = [&](const Replica& r) { return std::tuple(r.doubted_until > now, r.in_flight, r.given); };
  for (auto& replica : replicas_) {
    if (!replica.note || replica.note->state != State::healthy) continue;
    if (best == nullptr || rank(replica) < rank(*best)) best = &replica;
  }
  if (best == nullptr) return std::nullopt;
  ++best->in_flight;
  ++best->given;
  return Place{best->name.replica, best->note->address};
}

void Replicas::give_back(const Place& place, bool answered) {
  const std::lock_guard lock(mutex_);
  auto& replica = replicas_.at(place.replica);
  --replica.in_flight;
  if (answered) return;
  replica.doubted_until = clock_.monotonic() + kDoubt;
  looked_.reset();  // its keeper may know why
}

bool Replicas::all_are(std::initializer_list<State> states) {
  const std::lock_guard lock(mutex_);
  look();
  return std::all_of(replicas_.begin(), replicas_.end(), [&](const auto& replica) {
    return replica.note && std::find(states.begin(), states.end(), replica.note->state) != states.end();
  });
}

bool Replicas::lost() { return all_are({State::failed, State::ended}); }

bool Replicas::settled() { return all_are({State::healthy, State::failed, State::ended}); }

bool Replicas::failed() { return all_are({State::failed}); }

std::string Replicas::trouble() {
  const std::lock_guard lock(mutex_);
  look();
  const auto with_text = std::find_if(replicas_.begin(), replicas_.end(),
                                      [](const auto& replica) { return replica.note && !replica.note->text.empty(); });
  if (with_text != replicas_.end()) return fmt::format("the server of model '{}' {}", server_, with_text->note->text);
  const bool begun =
      std::any_of(replicas_.begin(), replicas_.end(), [](const auto& replica) { return replica.note.has_value(); });
  return fmt::format("the server of model '{}' {}", server_, begun ? "is starting" : "has not begun");
}

std::optional<std::string> Replicas::healthy() {
  const auto place = take();
  if (!place) return std::nullopt;
  give_back(*place, true);
  return place->address;
}

}  // namespace nkigrid::model
