#include "cli/kernel_profile.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/notice.hpp"
#include "runner/nkisim/program/parse.hpp"
#include "runner/nkisim/program/validate.hpp"

namespace nkigrid::cli {
namespace {

using nkisim::kLaneCount;
using nlohmann::ordered_json;

constexpr std::size_t kMostEvents = 50'000;  ///< of a trace: about 5 MB
constexpr std::array<std::string_view, kLaneCount> kLaneNames{"dma", "tensor", "scalar", "vector", "gpsimd"};

std::size_t busiest(const nkisim::Profile& sums) {
  const auto most = std::max_element(sums.busy_us.begin(), sums.busy_us.end());
  return static_cast<std::size_t>(most - sums.busy_us.begin());
}
double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Of the played time, the part in which a lane was at work.
double played_share(const nkisim::Timeline& timeline, std::size_t lane) {
  double us = 0;
  for (const auto& event : timeline.events) {
    if (nkisim::index_of(event.lane) == lane) us += event.end_us - event.begin_us;
  }
  return share(us, timeline.us);
}

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes / 1e9);
  return bytes >= 1e6 ? fmt::format("{:.2f} MB", bytes / 1e6) : fmt::format("{:.1f} kB", bytes / 1e3);
}

}  // namespace

KernelProfile profile_kernel(const std::string& program) {
  const nkisim::Program parsed = nkisim::parse_program(program);
  nkisim::validate(parsed);
  return {nkisim::profile_of(parsed), nkisim::timeline_of(parsed, kMostEvents)};
}

void print_profile(const KernelProfile& profile) {
  const nkisim::Profile& sums = profile.sums;
  const nkisim::Traffic& moved = sums.traffic;
  say("profile: an estimate of one NeuronCore of Trn1, no measurement\n");
  say("  bound by {}; roofline share {:.0f} % ({:.1f} of {:.1f} us)\n", kLaneNames[busiest(sums)],
      100 * share(sums.roofline_us, sums.us), sums.roofline_us, sums.us);
  say("  {:8} {:>12} {:>8} {:>9}\n", "", "busy us", "of it", "played");
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    say("  {:8} {:12.1f} {:6.0f} % {:7.0f} %\n", kLaneNames[lane], sums.busy_us[lane],
        100 * share(sums.busy_us[lane], sums.us), 100 * played_share(profile.timeline, lane));
  }
  say("  hbm   read {:>10}  written {:>10}  spilled {}\n", bytes_text(moved.hbm_read), bytes_text(moved.hbm_written),
      bytes_text(sums.spilled_bytes));
  say("  sbuf  read {:>10}  written {:>10}\n", bytes_text(moved.sbuf_read), bytes_text(moved.sbuf_written));
  say("  psum  read {:>10}  written {:>10}\n", bytes_text(moved.psum_read), bytes_text(moved.psum_written));
  say("  timeline: {} operations in {:.1f} us{}\n", profile.timeline.events.size(), profile.timeline.us,
      profile.timeline.whole ? "" : ", the first of the program");
}

ordered_json to_json(const KernelProfile& profile) {
  const nkisim::Profile& sums = profile.sums;
  ordered_json lanes = ordered_json::object();
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    lanes[std::string(kLaneNames[lane])] = {{"busy_us", sums.busy_us[lane]},
                                            {"played_share", played_share(profile.timeline, lane)}};
  }
  const nkisim::Traffic& moved = sums.traffic;
  return {{"estimate_us", sums.us},
          {"bound", kLaneNames[busiest(sums)]},
          {"roofline_us", sums.roofline_us},
          {"flops", sums.flops},
          {"engines", lanes},
          {"hbm_read_bytes", moved.hbm_read},
          {"hbm_write_bytes", moved.hbm_written},
          {"sbuf_read_bytes", moved.sbuf_read},
          {"sbuf_write_bytes", moved.sbuf_written},
          {"psum_read_bytes", moved.psum_read},
          {"psum_write_bytes", moved.psum_written},
          {"spill_bytes", sums.spilled_bytes},
          {"timeline_us", profile.timeline.us},
          {"timeline_whole", profile.timeline.whole}};
}

std::string trace_events(const KernelProfile& profile) {
  std::string out =
      "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"note\":\"estimated, not measured\"},\"traceEvents\":[\n";
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    out += fmt::format(R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":"{}"}}}})", lane,
                       kLaneNames[lane]);
    out += ",\n";
  }
  for (const auto& event : profile.timeline.events) {
    out += fmt::format(R"({{"name":"{}","ph":"X","pid":0,"tid":{},"ts":{:.4f},"dur":{:.4f},"args":{{"line":{}}}}})",
                       to_string(event.instr), nkisim::index_of(event.lane), event.begin_us,
                       event.end_us - event.begin_us, event.line);
    out += ",\n";
  }
  out += R"({"name":"process_name","ph":"M","pid":0,"args":{"name":"NeuronCore, estimated"}})";
  return out + "\n]}\n";
}

}  // namespace nkigrid::cli
