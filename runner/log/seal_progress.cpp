#include "runner/log/seal_progress.hpp"

#include "jobs/base/notice.hpp"

namespace nkigrid::log {

namespace {
constexpr Seconds kTellEvery{5};
}  // namespace

SealProgress tell_seal_progress(const Clock& clock) {
  return [&clock, told = clock.monotonic()](const std::string& journal, std::uint64_t done,
                                            std::uint64_t records) mutable {
    if (clock.monotonic() - told < kTellEvery) return;
    told = clock.monotonic();
    notice("sealing {}: {} of {} records", journal, done, records);
  };
}

}  // namespace nkigrid::log
