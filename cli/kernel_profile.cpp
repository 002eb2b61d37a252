#include "cli/kernel_profile.hpp"

#include <string>

#include <fmt/format.h>

#include "jobs/base/notice.hpp"

namespace nkigrid::cli {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes / 1e9);
  return bytes >= 1e6 ? fmt::format("{:.2f} MB", bytes / 1e6) : fmt::format("{:.1f} kB", bytes / 1e3);
}

}  // namespace

void print_profile(const nkisim::KernelProfile& profile) {
  const nkisim::Profile& sums = profile.sums;
  const nkisim::Traffic& moved = sums.traffic;
  say("profile: an estimate of one NeuronCore of Trn1, no measurement\n");
  say("  bound by {}; roofline share {:.0f} % ({:.1f} of {:.1f} us)\n", nkisim::kLaneNames[nkisim::bound_of(profile)],
      100 * share(sums.roofline_us, sums.us), sums.roofline_us, sums.us);
  say("  {:8} {:>12} {:>8} {:>9}\n", "", "busy us", "of it", "played");
  for (std::size_t lane = 0; lane < nkisim::kLaneCount; ++lane) {
    say("  {:8} {:12.1f} {:6.0f} % {:7.0f} %\n", nkisim::kLaneNames[lane], sums.busy_us[lane],
        100 * share(sums.busy_us[lane], sums.us), 100 * nkisim::played_share(profile, lane));
  }
  say("  hbm   read {:>10}  written {:>10}  spilled {}\n", bytes_text(moved.hbm_read), bytes_text(moved.hbm_written),
      bytes_text(sums.spilled_bytes));
  say("  sbuf  read {:>10}  written {:>10}\n", bytes_text(moved.sbuf_read), bytes_text(moved.sbuf_written));
  say("  psum  read {:>10}  written {:>10}\n", bytes_text(moved.psum_read), bytes_text(moved.psum_written));
  say("  as the vendor's profiler counts: all bytes of transfers, one partition's of instructions\n");
  say("  timeline: {} operations in {:.1f} us{}\n", profile.timeline.events.size(), profile.timeline.us,
      profile.timeline.whole ? "" : ", the first of the program");
  say("  the timeline waits for operands and leaves out spills and invariant loads; the estimate is of the busy "
      "times\n");
}

}  // namespace nkigrid::cli
