#include "runner/circuit.hpp"

#include <algorithm>

namespace nkigrid::runner {
namespace {

/// Some server is at work behind the endpoint: it did as asked, or refused this request for a reason of its own.
bool is_at_work(int status) noexcept { return status >= 200 && status < 500 && status != 408 && status != 429; }

/// Said by what stands before a server that is away.
bool is_of_a_gateway(int status) noexcept { return status >= 502 && status <= 504; }

}  // namespace

void Circuit::heard(int status, Seconds now) {
  if (is_at_work(status)) {
    *this = Circuit();
    return;
  }
  if (!failing_since_) failing_since_ = now;
  answers_errors_ = answers_errors_ || (status != 0 && !is_of_a_gateway(status));
}

bool Circuit::may_send(Seconds now) {
  if (!is_open(now)) return true;
  if (now < next_probe_) return false;
  next_probe_ = now + kProbeEvery;
  return true;
}

Seconds Circuit::until_probe(Seconds now) const { return std::max(Seconds(0), next_probe_ - now); }

bool Circuit::is_away(std::uint32_t episode, Seconds patience, Seconds now) {
  if (!failing_since_ || now - *failing_since_ < patience / 4) return false;
  unanswered_.insert(episode);
  return !answers_errors_ || unanswered_.size() > 1;
}

}  // namespace nkigrid::runner
