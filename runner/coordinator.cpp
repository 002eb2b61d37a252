#include "runner/coordinator.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

namespace nkigrid::runner {

Coordinator::Coordinator(mpi::Comm& comm, Dealer dealer, PermitOffice permits, Progress progress, const Clock& clock)
    : comm_(comm),
      dealer_(std::move(dealer)),
      permits_(std::move(permits)),
      progress_(std::move(progress)),
      clock_(clock),
      started_(clock.monotonic()) {}

void Coordinator::handle(const mpi::Incoming& message) {
  switch (static_cast<Tag>(message.tag)) {
    case Tag::want:
      take_want(message.source, decode_want(message.bytes));
      break;
    case Tag::done:
      for (const auto& done : decode_done(message.bytes)) dealer_.take(done);
      break;
    case Tag::spent:
      for (const auto& spent : decode_spent(message.bytes)) dealer_.spend(spent);
      break;
    case Tag::trouble:
      take_trouble(decode_trouble(message.bytes));
      break;
    case Tag::permit_wanted:
      if (permits_.want(message.bytes, message.source)) {
        comm_.send(message.source, static_cast<int>(Tag::permit_granted), message.bytes, "grant a permit");
      }
      break;
    case Tag::permit_returned:
      if (const auto next = permits_.give_back(message.bytes)) {
        comm_.send(next->rank, static_cast<int>(Tag::permit_granted), next->model, "pass a permit on");
      }
      break;
    case Tag::sealed:
      ++sealed_;
      if (const auto trouble = decode_trouble(message.bytes); !trouble.reason.empty()) take_trouble(trouble);
      break;
    default:
      break;
  }
  close_cells();
  deal_to_ranks();
  maybe_finish();
}

void Coordinator::tick() {
  dealer_.set_elapsed(clock_.monotonic() - started_);
  close_cells();
  if (dealer_.stopped()) drain(false);  // a budget: what is in flight is paid for and may end
  progress_.show(state());
  maybe_finish();
}

/// What a budget of a model or a cell ends: its lanes stop behind the turn that they are at.
void Coordinator::close_cells() {
  const auto cells = dealer_.take_closed();
  if (!cells.empty()) tell_all(Tag::close_cells, encode(Cells{cells}), "close cells");
}

void Coordinator::take_trouble(const Trouble& trouble) {
  exit_code_ = worse(exit_code_, trouble.exit_code);
  if (!trouble.model.empty()) {
    dealer_.stop_model(trouble.model, trouble.reason);
  } else if (!trouble.cell.empty()) {
    dealer_.stop_cell(trouble.cell, trouble.reason);
  } else {
    dealer_.stop_all(trouble.reason);
    if (trouble.exit_code == ExitCode::interrupted && !draining_) tell_draining();
    drain(trouble.at_once);
  }
}

/// Somebody sits before it: what the first Ctrl-C does, at once, and what a second one would.
void Coordinator::tell_draining() {
  progress_.tell(fmt::format("draining {} episode{}, each to the end of its turn; Ctrl-C again: stop now",
                             dealer_.in_flight(), dealer_.in_flight() == 1 ? "" : "s"));
}

void Coordinator::start(double seconds_left) {
  tell_all(Tag::start, encode(Start{seconds_left, dealer_.resumed()}), "begin the run");
}

void Coordinator::drain(bool at_once) {
  if (std::exchange(draining_, true) && (at_once_ || !at_once)) return;
  at_once_ = at_once_ || at_once;
  tell_all(Tag::drain, encode(Drain{at_once}), "drain");
}

void Coordinator::take_want(int rank, const Want& want) {
  auto& demand = demands_[rank];
  // What was dealt since the rank asked is on its way: it counts against what it asks for.
  const auto on_the_way = static_cast<std::uint32_t>(demand.dealt - want.received);
  demand.node = want.node;
  demand.wants = want.episodes > on_the_way ? want.episodes - on_the_way : 0;
  const auto all = want.episodes + want.ahead;
  demand.ahead = (all > on_the_way ? all - on_the_way : 0) - demand.wants;
}

/// Lanes without work come first. What a rank wants ahead is given while every rank has as much again to come: near the
/// end a queue on one rank would be another's idleness.
void Coordinator::deal_to_ranks() {
  if (draining_) return;
  for (auto& [rank, demand] : demands_) {
    if (demand.wants + demand.ahead == 0) continue;
    const auto share = dealer_.waiting() / (2 * static_cast<std::uint64_t>(comm_.size()));
    const auto ahead = static_cast<std::uint32_t>(std::min<std::uint64_t>(demand.ahead, share));
    if (demand.wants + ahead == 0) continue;
    const auto work = dealer_.deal(demand.wants + ahead, demand.node);
    if (work.empty()) continue;
    const auto count = static_cast<std::uint32_t>(work.size());
    demand.dealt += count;
    demand.ahead -= count > demand.wants ? count - demand.wants : 0;
    demand.wants -= std::min(count, demand.wants);
    comm_.send(rank, static_cast<int>(Tag::work), encode(work), "deal episodes");
  }
}

void Coordinator::maybe_finish() {
  if (finishing_ || !dealer_.idle() || !(draining_ || dealer_.exhausted())) return;
  finishing_ = true;
  tell_all(Tag::finish, {}, "end the run");
}

void Coordinator::tell_all(Tag tag, const std::string& bytes, std::string_view hint) {
  for (int rank = 0; rank < comm_.size(); ++rank) comm_.send(rank, static_cast<int>(tag), bytes, hint);
}

Progress::State Coordinator::state() const {
  return {.episodes = dealer_.episodes(),
          .scored = dealer_.scored(),
          .passed = dealer_.passed(),
          .in_flight = dealer_.in_flight(),
          .failed_attempts = dealer_.failed_attempts(),
          .failure = dealer_.last_failure(),
          .draining = draining_};
}

void Coordinator::finish_progress() { progress_.finish(state()); }

}  // namespace nkigrid::runner
