#include "runner/proc/held_signals.hpp"

#include <sys/signalfd.h>

#include <array>
#include <cerrno>

#include "jobs/base/error.hpp"

namespace nkigrid::proc {
namespace {

constexpr std::array kHeld = {SIGTERM, SIGINT, SIGHUP};

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : kHeld) sigaddset(&held, signal);
  ::pthread_sigmask(SIG_BLOCK, &held, &before_);
}

HeldSignals::~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

Fd watch_held_signals() {
  sigset_t mask, held;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  sigemptyset(&held);
  bool any = false;
  for (const int signal : kHeld) {
    if (sigismember(&mask, signal) != 1) continue;
    sigaddset(&held, signal);
    any = true;
  }
  if (!any) return Fd();
  Fd fd(::signalfd(-1, &held, SFD_CLOEXEC));
  if (!fd) throw_errno(errno, "watch signals (signalfd)");
  return fd;
}

}  // namespace nkigrid::proc
