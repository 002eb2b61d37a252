#pragma once

#include <time.h>

namespace nkigrid::test {

/// Processor time [s] of this thread: what others do on the machine is not in it.
inline double cpu_seconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Of one call. Bounds that tests hold it against are tens of times what it takes: they tell a megabyte read once from
/// one read a thousand times.
template <class Call>
double cpu_seconds_of(Call call) {
  const double start = cpu_seconds();
  call();
  return cpu_seconds() - start;
}

}  // namespace nkigrid::test
