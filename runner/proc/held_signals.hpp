#pragma once

#include <signal.h>

#include "jobs/base/files.hpp"

namespace nkigrid::proc {

/// Holds SIGTERM, SIGINT and SIGHUP back while something stands that they would leave behind: children, a folder in
/// /tmp. run_command() ends its children and throws when one comes; the signal takes effect when this is gone, so stand
/// it before what is to be cleared away, and before threads.
/// @threads of the thread that makes it and of those that it starts; destroyed in the same one
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

/// Readable while a signal waits that is held back in this thread; empty where none is held. It takes none: all threads
/// see it. @throws Error{io}
Fd watch_held_signals();

}  // namespace nkigrid::proc
