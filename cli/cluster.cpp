#include "cli/cluster.hpp"

#include <filesystem>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/status_report.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {

std::string program_path() { return std::filesystem::read_symlink("/proc/self/exe").native(); }

void print_pace(const jobs::Run& run, const jobs::Pace& pace, std::FILE* to) {
  if (pace.after_living) {
    fmt::print(to,
               "they wait for the run's earlier arrays to end: those have all that slurm.throttle and the models' "
               "concurrency allow\n");
  }
  if (pace.throttle == 0 || pace.throttle == run.grid.slurm.throttle) return;
  if (pace.at_once > pace.throttle) {
    fmt::print(to, "at most {} of these elements work at once, beside those that live\n", pace.throttle);
  } else {
    fmt::print(to,
               "at most {} elements work at once: that is the least `concurrency` of a model, and an element needs a "
               "request of its own\n",
               pace.throttle);
  }
}

namespace {

/// Elements that run know the run as it was when they began.
void print_added(const jobs::Run& run, const jobs::SubmitReport& report,
                 const std::map<std::uint32_t, std::uint64_t>& added) {
  std::uint64_t episodes = 0;
  for (const auto shard : report.begun_shards) {
    if (const auto at = added.find(shard); at != added.end()) episodes += at->second;
  }
  if (episodes == 0) return;
  fmt::print(
      "{} episodes were added to elements that run already and do not know them; `nkigrid resume {}` when these end\n",
      episodes, run.folder.native());
}

}  // namespace

ExitCode submit_outstanding(const jobs::Run& run, jobs::Scheduler& scheduler, const OutstandingOptions& options) {
  const auto ledger = log::read_ledger(run);
  const auto shards = ledger.shards_to_run(run.plan, options.with_parked);
  if (shards.empty()) {
    if (!options.quiet)
      fmt::print("nothing to submit: {} of {} episodes are scored\n", ledger.scored(), ledger.states.size());
    return ledger.outstanding() == 0 ? ExitCode::done : ExitCode::incomplete;
  }
  const auto bad = ledger.bad_nodes();
  const auto report = scheduler.submit(run, {shards, program_path(), bad});
  if (options.quiet) return ExitCode::done;
  for (const auto& node : bad) fmt::print("left out: {}\n", node_text(node, ledger.nodes.at(node)));
  if (report.already) {
    fmt::print("already submitted: {} shards are pending or running; `nkigrid status {}` follows them\n",
               report.busy_shards.size(), run.folder.native());
    if (report.aggregation_added)
      fmt::print("submitted aggregation {}, which was missing, after all of them end\n", report.submission.aggregation);
    print_added(run, report, options.added);
    return ExitCode::done;
  }
  for (const auto& array : report.submission.arrays)
    fmt::print("submitted array {} (elements {}, shard = element + {})\n", array.job, array.elements, array.offset);
  print_pace(run, report.pace, stdout);
  fmt::print("submitted aggregation {}, after all of them end\n", report.submission.aggregation);
  if (!report.busy_shards.empty())
    fmt::print("left alone, pending or running already: shards {}\n", fmt::join(report.busy_shards, ", "));
  print_added(run, report, options.added);
  return ExitCode::done;
}

}  // namespace nkigrid::cli
