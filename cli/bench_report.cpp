#include "cli/bench_report.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/bench_counts.hpp"
#include "cli/bench_list.hpp"
#include "cli/json_text.hpp"
#include "jobs/base/notice.hpp"

namespace nkigrid::cli {
namespace {

using nlohmann::ordered_json;

// What a task may take; more is shown. They are of the clock or of a processor of unknown speed, so no fault follows.
constexpr double kSlowReference = 0.5, kSlowKernel = 2;

struct Times {
  double median = 0, slowest = 0;
  std::string slowest_id;
};

/// @param time of a proof [s]; those of 0 are left out
template <class TimeOf>
Times times_of(const std::vector<TaskProof>& proofs, TimeOf time) {
  std::vector<std::pair<double, std::string>> all;
  for (const auto& proof : proofs) {
    if (time(proof) > 0) all.emplace_back(time(proof), proof.id);
  }
  if (all.empty()) return {};
  std::sort(all.begin(), all.end());
  return {all[all.size() / 2].first, all.back().first, all.back().second};
}

struct Summary {
  std::map<std::string, KindCounts> levels;
  std::size_t faulty = 0, estimates = 0, refused_estimates = 0;
  std::map<std::string, std::uint64_t> tried;
  Times references, kernels;
};

Summary summary_of(const jobs::Benchmark& benchmark, const std::vector<TaskProof>& proofs) {
  Summary summary;
  summary.levels = kinds_of(benchmark, proofs);
  for (const auto& proof : proofs) {
    summary.faulty += proof.faults.empty() ? 0 : 1;
    summary.estimates += proof.estimate_us > 0 ? 1 : 0;
    summary.refused_estimates += proof.notes.size();
    for (const auto& [kind, count] : proof.tried) summary.tried[kind] += count;
  }
  summary.references = times_of(proofs, [](const TaskProof& proof) { return proof.reference_s; });
  summary.kernels = times_of(proofs, [](const TaskProof& proof) { return proof.known_kernel ? proof.kernel_s : 0.0; });
  return summary;
}

ordered_json times_json(const Times& times) {
  return {{"median_s", times.median}, {"slowest_s", times.slowest}, {"slowest", times.slowest_id}};
}

ordered_json proof_json(const TaskProof& proof) {
  ordered_json out = {{"id", proof.id}, {"ok", proof.faults.empty()}, {"faults", proof.faults}, {"notes", proof.notes}};
  out["known_kernel"] = proof.known_kernel;
  out["tried"] = proof.tried;
  out["reference_s"] = proof.reference_s;
  out["kernel_s"] = proof.kernel_s;
  out["estimate_us"] = proof.estimate_us > 0 ? ordered_json(proof.estimate_us) : nullptr;
  out["roofline_us"] = proof.roofline_us;
  return out;
}

ordered_json kinds_json(const KindCounts& counts) {
  ordered_json out = {{"tasks", counts.tasks}, {"known_kernels", counts.known_kernels}};
  out["ranks"] = ordered_json::object();
  for (const auto& [rank, tasks] : counts.ranks) out["ranks"][std::to_string(rank)] = tasks;
  out["ragged"] = counts.ragged;
  out["bfloat16"] = counts.bfloat16;
  out["integer"] = counts.integers;
  return out;
}

void print_json(const jobs::Benchmark& benchmark, const std::vector<TaskProof>& proofs, const Summary& summary) {
  ordered_json out = {{"version", 1}, {"benchmark", benchmark.name}, {"tasks", ordered_json::array()}};
  for (const auto& proof : proofs) out["tasks"].push_back(proof_json(proof));
  out["summary"] = {{"tasks", proofs.size()},
                    {"faulty", summary.faulty},
                    {"known_kernels", sum_of(summary.levels).known_kernels},
                    {"estimates", summary.estimates},
                    {"estimates_refused", summary.refused_estimates},
                    {"tried", summary.tried},
                    {"references", times_json(summary.references)},
                    {"kernels", times_json(summary.kernels)}};
  for (const auto& [level, counts] : summary.levels) out["summary"]["levels"][level] = kinds_json(counts);
  fmt::print("{}", json_text(out));
}

std::string line_of(const TaskProof& proof, std::size_t width) {
  std::string line = fmt::format("{:<{}} ", proof.id, width);
  if (!proof.faults.empty())
    line += fmt::format("FAULT {}", fmt::join(proof.faults, "; "));
  else
    line += proof.known_kernel ? "ok" : "ok, no known kernel";
  if (proof.reference_s > kSlowReference) line += fmt::format("; slow reference, {:.2f} s", proof.reference_s);
  if (proof.kernel_s > kSlowKernel) line += fmt::format("; slow kernel, {:.1f} s", proof.kernel_s);
  for (const auto& note : proof.notes) line += "; " + note;
  return line;
}

void print_times(const char* what, const Times& times) {
  if (times.slowest > 0)
    say("{}: median {:.3f} s, slowest {:.3f} s ({})\n", what, times.median, times.slowest, times.slowest_id);
}

void print_text(const std::vector<TaskProof>& proofs, const Summary& summary) {
  std::vector<std::string> ids;
  for (const auto& proof : proofs) ids.push_back(proof.id);
  const auto width = id_width(ids);
  for (const auto& proof : proofs) say("{}\n", line_of(proof, width));
  for (const auto& [level, counts] : summary.levels) say("{}: {}\n", level, kinds_text(counts));
  const auto all = sum_of(summary.levels);
  if (summary.levels.size() > 1) say("all: {}\n", kinds_text(all));
  say("{} tasks, {} with a fault, {} with a known kernel\n", proofs.size(), summary.faulty, all.known_kernels);
  std::vector<std::string> tried;
  for (const auto& [kind, count] : summary.tried) tried.push_back(fmt::format("{} {}", count, kind));
  say("cheap answers tried: {}\n", fmt::join(tried, ", "));
  say("estimates of known kernels: {}, and {} refused as evidence (under the roofline)\n", summary.estimates,
      summary.refused_estimates);
  print_times("references, of a processor", summary.references);
  print_times("known kernels, compiled and judged", summary.kernels);
}

}  // namespace

ExitCode report_proofs(const jobs::Benchmark& benchmark, const std::vector<TaskProof>& proofs, bool json) {
  const auto summary = summary_of(benchmark, proofs);
  if (json)
    print_json(benchmark, proofs, summary);
  else
    print_text(proofs, summary);
  return summary.faulty == 0 ? ExitCode::done : ExitCode::incomplete;
}

}  // namespace nkigrid::cli
