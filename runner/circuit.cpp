#include "runner/circuit.hpp"

#include <algorithm>

#include "runner/model/model.hpp"

namespace nkigrid::runner {
void Circuit::heard(int status, Seconds now) {
  if (model::is_at_work(status)) {
    *this = Circuit();
    return;
  }
  if (!failing_since_) failing_since_ = now;
}

bool Circuit::may_send(Seconds now) {
  if (!is_open(now)) return true;
  if (now < next_probe_) return false;
  next_probe_ = now + kProbeEvery;
  return true;
}

Seconds Circuit::until_probe(Seconds now) const { return std::max(Seconds(0), next_probe_ - now); }

}  // namespace nkigrid::runner
