#include "runner/heartbeat.hpp"

#include "runner/messages.hpp"

namespace nkigrid::runner {

Heartbeat::Heartbeat(mpi::Comm& comm, const Clock& clock)
    : comm_(comm), clock_(clock), looked_(clock.monotonic()), told_(looked_) {
  const int first = comm.rank() == 0 ? 1 : 0, end = comm.rank() == 0 ? comm.size() : 1;
  for (int rank = first; rank < end; ++rank) peers_[rank] = {looked_};
}

bool Heartbeat::took(const mpi::Incoming& message) {
  const auto tag = static_cast<Tag>(message.tag);
  if (const auto peer = peers_.find(message.source); peer != peers_.end())
    peer->second = {clock_.monotonic(), tag == Tag::sealing};
  return tag == Tag::alive || tag == Tag::sealing;
}

std::optional<int> Heartbeat::look() {
  const auto now = clock_.monotonic();
  if (now - told_ >= kBeat) {
    told_ = now;
    tell(static_cast<int>(Tag::alive));
  }
  // Whoever slept itself (a job that was suspended, a long seal) has not listened: everybody's time begins anew.
  const bool slept = now - looked_ > kSilent / 2;
  looked_ = now;
  for (auto& [rank, peer] : peers_) {
    if (slept) peer.heard = now;
    if (now - peer.heard > (peer.busy ? kBusy : kSilent)) return rank;
  }
  return std::nullopt;
}

void Heartbeat::before_sealing() { tell(static_cast<int>(Tag::sealing)); }

void Heartbeat::tell(int tag) {
  for (const auto& [rank, peer] : peers_) comm_.send(rank, tag, {}, "give a sign of life");
}

}  // namespace nkigrid::runner
