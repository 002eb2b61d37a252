#include "cli/cluster.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/json_text.hpp"
#include "cli/kept_servers.hpp"
#include "cli/status_report.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/json_depth.hpp"
#include "jobs/base/notice.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/stopped_by.hpp"

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

/// A held job is a submitted job.
void print_hold(const jobs::Run& run, const jobs::SubmitReport& report) {
  const auto& extra = run.grid.slurm.extra;
  if (std::find(extra.begin(), extra.end(), "--hold") == extra.end()) return;
  std::vector<std::uint32_t> arrays;
  for (const auto& array : report.submission.arrays) arrays.push_back(array.job);
  fmt::print("held, as slurm.extra asks; `scontrol release {}` lets them start\n", fmt::join(arrays, ","));
}

std::vector<std::string> server_names(const jobs::Run& run, const log::Ledger& ledger, bool with_parked) {
  std::vector<std::string> names;
  for (const auto& server : servers_to_run(run, ledger, std::nullopt, with_parked)) names.push_back(server.name);
  return names;
}

}  // namespace

bool has_tables_of(const jobs::Run& run, const log::Ledger& ledger) {
  try {
    const auto text = read_foreign_file(run.folder, "tables/tables.json");
    const auto tables = nlohmann::json::parse(shallow_part(text));
    return tables.at("outstanding") == ledger.outstanding();
  } catch (const std::exception&) {
    return false;
  }
}

namespace {

std::string scored_text(const jobs::Run& run, const log::Ledger& ledger) {
  const auto next =
      ledger.outstanding() == 0
          ? fmt::format("`nkigrid tables {}` prints what came of them", run.folder.native())
          : fmt::format(
                "the rest is parked (infrastructure failed it too often), and `nkigrid resume {} --parked` "
                "tries it again",
                run.folder.native());
  return fmt::format("{} of {} episodes are scored; {}", ledger.scored(), ledger.states.size(), next);
}

void print_already(const jobs::Run& run, const jobs::SubmitReport& report, const OutstandingOptions& options) {
  fmt::print("already submitted: {} shards are pending or running; `nkigrid status {}` follows them\n",
             report.busy_shards.size(), run.folder.native());
  if (report.aggregation_added)
    fmt::print("submitted aggregation {}, which was missing, after all of them end\n", report.submission.aggregation);
  if (options.with_parked)
    fmt::print("those that work already may leave what is parked; `nkigrid resume {} --parked` again when they end\n",
               run.folder.native());
}

void print_report(const jobs::Run& run, const jobs::SubmitReport& report, const OutstandingOptions& options) {
  if (report.already) return print_already(run, report, options);
  for (const auto& server : report.submission.servers)
    fmt::print("submitted server {} of model {}, before the elements\n", server.job, server.name);
  for (const auto& array : report.submission.arrays)
    fmt::print("submitted array {} (elements {}, shard = element + {})\n", array.job, array.elements, array.offset);
  print_pace(run, report.pace, stdout);
  if (report.aggregation_refused.empty())
    fmt::print("submitted aggregation {}, after all of them end\n", report.submission.aggregation);
  print_hold(run, report);
  if (!report.busy_shards.empty())
    fmt::print("left alone, pending or running already: shards {}\n", fmt::join(report.busy_shards, ", "));
}

/// Nothing but the tables was left to make.
void print_tables_only(const jobs::Run& run, const jobs::SubmitReport& report, const log::Ledger& ledger) {
  fmt::print("no episode to submit: {}\n", scored_text(run, ledger));
  if (report.aggregation_added)
    fmt::print("submitted aggregation {}, which makes the tables anew\n", report.submission.aggregation);
  else if (report.submission.aggregation > 0)
    fmt::print("aggregation {} is pending or running, and makes the tables\n", report.submission.aggregation);
}

void print_nodes(const log::Ledger& ledger, const jobs::SubmitReport& report) {
  const auto bad = ledger.bad_nodes();
  for (const auto& node : report.left_out) fmt::print("left out: {}\n", node_text(node, ledger.nodes.at(node)));
  if (report.arrays_added && report.left_out.empty() && !bad.empty())
    fmt::print("not left out, for too few others are there: {}\n", fmt::join(bad, ", "));
}

void print_json(const jobs::Run& run, const jobs::SubmitReport& report) {
  nlohmann::ordered_json out = {{"version", 1},
                                {"run", run.folder.native()},
                                {"submitted", report.arrays_added || report.aggregation_added},
                                {"arrays", nlohmann::ordered_json::array()}};
  if (report.arrays_added) {
    for (const auto& array : report.submission.arrays)
      out["arrays"].push_back({{"job", array.job}, {"elements", array.elements}, {"offset", array.offset}});
  }
  if (!report.already) {
    for (const auto& server : report.submission.servers)
      out["servers"].push_back({{"job", server.job}, {"server", server.name}, {"replica", server.replica}});
  }
  const auto aggregation = report.submission.aggregation;
  out["aggregation"] = aggregation == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(aggregation);
  out["busy_shards"] = report.busy_shards;
  out["throttle"] = report.pace.throttle;
  out["left_out"] = report.left_out;
  fmt::print("{}", json_text(out));
}

}  // namespace

ExitCode nothing_to_submit(const jobs::Run& run, const log::Ledger& ledger, const OutstandingOptions& options) {
  if (options.json) {
    fmt::print("{}", json_text({{"version", 1},
                                {"run", run.folder.native()},
                                {"submitted", false},
                                {"scored", ledger.scored()},
                                {"outstanding", ledger.outstanding()}}));
  } else if (!options.quiet) {
    fmt::print("nothing to submit: {}\n", scored_text(run, ledger));
  }
  return ledger.outstanding() == 0 ? ExitCode::done : ExitCode::incomplete;
}

ExitCode submit_outstanding(const jobs::Run& run, jobs::Scheduler& scheduler, const OutstandingOptions& options) {
  const auto ledger = log::read_ledger(run);
  const auto shards = ledger.shards_to_run(run.plan, options.with_parked);
  const bool lacks_tables = scheduler.is_submitted(run) && !has_tables_of(run, ledger);
  if (shards.empty() && !lacks_tables) return nothing_to_submit(run, ledger, options);
  const auto report = scheduler.submit(run, {.shards = shards,
                                             .program = program_path(),
                                             .exclude = ledger.bad_nodes(),
                                             .with_parked = options.with_parked,
                                             .tables = lacks_tables,
                                             .stopped = log::stopped_shards(run.log_folder()),
                                             .servers = server_names(run, ledger, options.with_parked)});
  if (!report.aggregation_refused.empty())
    warn("the aggregation was refused: {}; the last element to end makes the tables", report.aggregation_refused);
  if (options.json) {
    print_json(run, report);
  } else if (!options.quiet && shards.empty()) {
    print_tables_only(run, report, ledger);
  } else if (!options.quiet) {
    print_nodes(ledger, report);
    print_report(run, report, options);
    print_added(run, report, options.added);
  }
  return shards.empty() && ledger.outstanding() > 0 ? ExitCode::incomplete : ExitCode::done;
}

}  // namespace nkigrid::cli
