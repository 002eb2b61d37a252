#include "runner/endpoint_gate.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/core.h>

namespace nkigrid::runner {
namespace {

/// A server that restarts is back sooner than anybody looks.
constexpr Seconds kWorthANote{30};
/// How many an endpoint takes grows with each round of replies.
constexpr Seconds kBetweenNarrowNotes{5};
/// Between looks at a circuit that another lane may have closed without a word.
constexpr Seconds kLook{1};

std::string note_text(double since, int status) {
  return fmt::format("has given no reply since {:%Y-%m-%dT%H:%M:%SZ} ({})",
                     fmt::gmtime(static_cast<std::time_t>(since)),
                     status == 0 ? "no answer" : fmt::format("HTTP {}", status));
}

}  // namespace

EndpointGate::EndpointGate(const jobs::Grid& grid, model::Permits& permits, const Clock& clock, Notes notes)
    : permits_(permits), clock_(clock), notes_(std::move(notes)) {
  for (const auto& spec : grid.models) {
    if (jobs::remote_of(spec.api) != nullptr) models_[spec.name] = {.limited = spec.concurrency > 0};
  }
}

EndpointGate::~EndpointGate() {
  for (const auto& [name, model] : models_) {
    if (model.noted) notes_(name, "", log::EndpointNote::away);
    if (model.limit > 0) notes_(name, "", log::EndpointNote::narrow);
  }
}

bool EndpointGate::reach(const std::string& model, std::stop_token stop) {
  const auto at = models_.find(model);
  if (at == models_.end()) return true;
  std::unique_lock lock(mutex_);
  while (!at->second.given_up && !at->second.circuit.may_send(clock_.monotonic())) {
    const auto wait = std::min(kLook, at->second.circuit.until_probe(clock_.monotonic()));
    changed_.wait_for(lock, stop, wait, [] { return false; });
    if (stop.stop_requested()) return false;
  }
  return !at->second.given_up;
}

bool EndpointGate::acquire(const std::string& model, std::stop_token stop) {
  const auto at = models_.find(model);
  const bool limited = at == models_.end() || at->second.limited;
  return !limited || permits_.acquire(model, stop);
}

void EndpointGate::release(const std::string& model) {
  const auto at = models_.find(model);
  if (at == models_.end() || at->second.limited) permits_.release(model);
}

void EndpointGate::heard(const std::string& model, int status) {
  const auto at = models_.find(model);
  if (at == models_.end()) return;
  std::string note;
  {
    const std::lock_guard lock(mutex_);
    const auto now = clock_.monotonic();
    at->second.circuit.heard(status, now);
    const auto since = at->second.circuit.failing_since();
    const bool worth = since && now - *since >= kWorthANote;
    if (std::exchange(at->second.noted, worth) == worth) return;
    if (worth) note = note_text(clock_.unix_seconds() - (now - *since).count(), status);
  }
  notes_(model, note, log::EndpointNote::away);
}

void EndpointGate::narrowed(const std::string& model, std::uint32_t limit) {
  const auto at = models_.find(model);
  if (at == models_.end()) return;
  {
    const std::lock_guard lock(mutex_);
    auto& known = at->second;
    const auto now = clock_.monotonic();
    const bool begins_or_ends = (limit == 0) != (known.limit == 0);
    if (limit == known.limit || (!begins_or_ends && now - known.limit_noted_at < kBetweenNarrowNotes)) return;
    known.limit = limit;
    known.limit_noted_at = now;
  }
  notes_(model, limit > 0 ? fmt::format("takes {} at once from one process", limit) : "", log::EndpointNote::narrow);
}

void EndpointGate::give_up(const std::string& model) {
  const auto at = models_.find(model);
  if (at == models_.end()) return;
  const std::lock_guard lock(mutex_);
  at->second.given_up = true;
}

bool EndpointGate::given_up(const std::string& model) const {
  const auto at = models_.find(model);
  const std::lock_guard lock(mutex_);
  return at != models_.end() && at->second.given_up;
}

}  // namespace nkigrid::runner
