#include "cli/status_report.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/files.hpp"

namespace nkigrid::cli {

StatusReport make_status(const jobs::Run& run, const log::Ledger& ledger) {
  StatusReport report;
  report.run = run.grid.name;
  report.grid_hash = run.grid_hash;
  report.stopped_by = read_stopped_by(run);
  report.episodes = run.plan.episodes.size();
  report.scored = ledger.scored();
  report.outstanding = ledger.outstanding();
  for (const auto& cell : run.plan.cells) report.cells.push_back({.cell = cell.id});
  for (std::size_t i = 0; i < run.plan.episodes.size(); ++i) {
    auto& cell = report.cells[run.plan.episodes[i].cell];
    ++cell.episodes;
    const auto& state = ledger.states[i];
    if (state.counted_attempt == 0) {
      ++report.reasons[std::string(log::to_string(state.outstanding))];
      continue;
    }
    ++cell.scored;
    const auto outcome = ledger.ends[i]->outcome;
    cell.passed += outcome == Outcome::pass ? 1 : 0;
    ++report.outcomes[std::string(nkigrid::to_string(outcome))];
  }
  return report;
}

std::string to_json(const StatusReport& report) {
  nlohmann::ordered_json json = {{"version", 1},
                                 {"run", report.run},
                                 {"grid_hash", report.grid_hash},
                                 {"episodes", report.episodes},
                                 {"scored", report.scored},
                                 {"outstanding", report.outstanding},
                                 {"reasons", report.reasons},
                                 {"outcomes", report.outcomes},
                                 {"cells", nlohmann::ordered_json::array()},
                                 {"elements", nlohmann::ordered_json::array()},
                                 {"stopped_by", report.stopped_by}};
  for (const auto& cell : report.cells) {
    json["cells"].push_back({{"cell", cell.cell}, {"episodes", cell.episodes}, {"scored", cell.scored}, {"passed", cell.passed}});
  }
  for (const auto& element : report.elements) {
    json["elements"].push_back({{"shard", element.shard}, {"job", element.job}, {"state", element.state}, {"reason", element.reason}});
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string to_text(const StatusReport& report) {
  std::string text = fmt::format("{}: {} of {} episodes scored, {} outstanding\n", report.run, report.scored, report.episodes, report.outstanding);
  std::size_t width = 4;
  for (const auto& cell : report.cells) width = std::max(width, cell.cell.size());
  text += fmt::format("\n{:<{}}  {:>14}  {:>7}\n", "cell", width, "scored", "passed");
  for (const auto& cell : report.cells) {
    text += fmt::format("{:<{}}  {:>6} / {:>5}  {:>7}\n", cell.cell, width, cell.scored, cell.episodes, cell.passed);
  }
  const auto list = [&](const char* title, const std::map<std::string, std::uint64_t>& counts) {
    if (counts.empty()) return;
    text += fmt::format("\n{}:", title);
    for (const auto& [name, count] : counts) text += fmt::format(" {} {}", count, name);
    text += '\n';
  };
  list("outcomes", report.outcomes);
  list("outstanding", report.reasons);
  for (const auto& element : report.elements) {
    text += fmt::format("shard {} (job {}): {}{}\n", element.shard, element.job, element.state, element.reason.empty() ? "" : ", " + element.reason);
  }
  if (!report.stopped_by.empty()) text += fmt::format("\nstopped by {}\n", report.stopped_by);
  return text;
}

std::string read_stopped_by(const jobs::Run& run) {
  const auto path = run.log_folder() / "stopped_by";
  return std::filesystem::exists(path) ? read_file(path) : std::string();
}

void write_stopped_by(const jobs::Run& run, const std::string& reason) {
  if (reason != read_stopped_by(run)) write_file_atomic(run.log_folder() / "stopped_by", reason);
}

}  // namespace nkigrid::cli
