#include "runner/nkisim/estimate/kernel_profile.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/nkisim/estimate/charge_parts.hpp"
#include "runner/nkisim/program/parse.hpp"
#include "runner/nkisim/program/validate.hpp"

namespace nkigrid::nkisim {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostEvents = 50'000;              ///< of a trace: about 5 MB
constexpr std::size_t kMostLines = 16, kMostShown = 32;  ///< of a text: under 12 KiB

/// To three decimals, which a nanosecond is: what a model reads, not what is computed with.
double rounded(double us) { return std::round(us * 1e3) / 1e3; }

/// Viewers count in whole nanoseconds: an end that is rounded as the next begin is never comes to lie behind it.
std::string in_us(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }
std::int64_t in_ns(double us) { return std::llround(us * 1e3); }

/// What each line of the kernel takes on each lane, the longest first.
ordered_json longest_lines(const Timeline& timeline) {
  struct Sum {
    double us = 0;
    std::size_t operations = 0;
  };
  std::map<std::pair<std::uint32_t, std::size_t>, Sum> sums;
  for (const auto& event : timeline.events) {
    auto& sum = sums[{event.line, index_of(event.lane)}];
    sum.us += event.end_us - event.begin_us;
    ++sum.operations;
  }
  std::vector<std::pair<std::pair<std::uint32_t, std::size_t>, Sum>> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second.us > b.second.us; });
  if (order.size() > kMostLines) order.resize(kMostLines);
  auto lines = ordered_json::array();
  for (const auto& [place, sum] : order)
    lines.push_back({{"line", place.first},
                     {"engine", kLaneNames[place.second]},
                     {"us", rounded(sum.us)},
                     {"operations", sum.operations}});
  return lines;
}

ordered_json first_operations(const Timeline& timeline) {
  auto shown = ordered_json::array();
  for (std::size_t i = 0; i < std::min(timeline.events.size(), kMostShown); ++i) {
    const auto& event = timeline.events[i];
    shown.push_back({{"begin_us", rounded(event.begin_us)},
                     {"end_us", rounded(event.end_us)},
                     {"engine", kLaneNames[index_of(event.lane)]},
                     {"operation", to_string(event.instr)},
                     {"line", event.line}});
  }
  return shown;
}

}  // namespace

KernelProfile profile_kernel(const std::string& program) {
  Program parsed = parse_program(program);
  validate(parsed);
  charge_parts(parsed);
  return {profile_of(parsed), timeline_of(parsed, kMostEvents)};
}

std::size_t bound_of(const KernelProfile& profile) {
  const auto& busy = profile.sums.busy_us;
  return static_cast<std::size_t>(std::max_element(busy.begin(), busy.end()) - busy.begin());
}

double played_share(const KernelProfile& profile, std::size_t lane) {
  double us = 0;
  for (const auto& event : profile.timeline.events) {
    if (index_of(event.lane) == lane) us += event.end_us - event.begin_us;
  }
  return profile.timeline.us > 0 ? us / profile.timeline.us : 0;
}

ordered_json to_json(const KernelProfile& profile) {
  const Profile& sums = profile.sums;
  ordered_json lanes = ordered_json::object();
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    lanes[std::string(kLaneNames[lane])] = {{"busy_us", sums.busy_us[lane]},
                                            {"played_share", played_share(profile, lane)}};
  }
  ordered_json out = {{"estimate_us", sums.us},
                      {"bound", kLaneNames[bound_of(profile)]},
                      {"roofline_us", sums.roofline_us},
                      {"flops", sums.flops},
                      {"engines", lanes}};
  for (const Counter& counter : kCounters) out[std::string(counter.name)] = sums.traffic.*counter.bytes;
  out["spill_bytes"] = sums.spilled_bytes;
  out["timeline_us"] = profile.timeline.us;
  out["timeline_whole"] = profile.timeline.whole;
  return out;
}

std::string profile_text(const KernelProfile& profile) {
  ordered_json text = to_json(profile);
  text["longest_lines"] = longest_lines(profile.timeline);
  text["first_operations"] = first_operations(profile.timeline);
  return text.dump();
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
    const std::int64_t begin = in_ns(event.begin_us), end = in_ns(event.end_us);
    out += fmt::format(R"({{"name":"{}","ph":"X","pid":0,"tid":{},"ts":{},"dur":{},"args":{{"line":{}}}}})",
                       to_string(event.instr), index_of(event.lane), in_us(begin), in_us(end - begin), event.line);
    out += ",\n";
  }
  out += R"({"name":"process_name","ph":"M","pid":0,"args":{"name":"NeuronCore, estimated"}})";
  return out + "\n]}\n";
}

}  // namespace nkigrid::nkisim
