#include "runner/proc/tended.hpp"

#include <signal.h>

#include <exception>

#include "runner/proc/frame.hpp"

namespace nkigrid::proc {

Tended::Tended(const std::vector<std::string>& argv, const std::vector<std::string>& environment, const Fd& output)
    : program_(start_bound(argv, {environment, output.get(), output.get(), Group::own_session, true, {}})) {}

Tended::~Tended() {
  try {
    if (!ended_) end(Seconds(0));
  } catch (const std::exception&) {
    // Its tender dies next, and the keeper ends it.
  }
}

ChildEnd Tended::end(Seconds grace) {
  if (grace.count() > 0) {
    ::kill(-program_.process.pid, SIGTERM);  // the keeper itself is deaf to it
    wait_readable(pidfd(), deadline_after(grace.count()));
  }
  ended_ = true;
  return end_bound(program_);
}

}  // namespace nkigrid::proc
