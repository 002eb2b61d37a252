#include "cli/status_report.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/json_text.hpp"
#include "jobs/base/text.hpp"
#include "runner/log/stopped_by.hpp"

namespace nkigrid::cli {

namespace {

constexpr double kRateWindow = 600;  ///< [s]
constexpr std::size_t kListedElements = 12;

/// Episodes scored an hour of work in the window: of the time in which one of them ran, so that a pause between two
/// sessions is none. A run that has ended keeps the rate of its last minutes.
double scored_per_hour(const log::Ledger& ledger, double now, bool ended) {
  if (ended) {
    now = 0;
    for (const auto& end : ledger.ends)
      if (end) now = std::max(now, end->started + end->seconds);
  }
  std::vector<std::pair<double, double>> ran;  // begin, end
  for (const auto& end : ledger.ends) {
    const double ended_at = end ? end->started + end->seconds : 0;
    if (ended_at >= now - kRateWindow) ran.emplace_back(std::max(end->started, now - kRateWindow), ended_at);
  }
  std::sort(ran.begin(), ran.end());
  double worked = 0, until = 0;
  for (const auto& [begin, end] : ran) {
    worked += std::max(0.0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return worked < 1 ? 0 : 3600.0 * static_cast<double>(ran.size()) / worked;
}

std::string long_time(double seconds) {
  const auto minutes = static_cast<std::uint64_t>(seconds / 60 + 0.5);
  if (minutes < 1) return "under a minute";
  if (minutes < 60) return fmt::format("{} min", minutes);
  if (minutes < 48 * 60) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  return fmt::format("{:.1f} days", static_cast<double>(minutes) / (24 * 60));
}

/// How long ago an element was submitted [s]; negative: unknown.
double age_seconds(const jobs::ElementState& element, double now) {
  return element.submitted > 0 ? std::max(0.0, now - element.submitted) : -1;
}

std::string element_text(const jobs::ElementState& element, double now) {
  auto text = element.state;
  if (!element.reason.empty()) text += ", " + element.reason;
  if (element.state == "PENDING" && element.submitted > 0)
    text += ", submitted " + long_time(age_seconds(element, now)) + " ago";
  if (!element.advice.empty()) text += "; " + element.advice;
  return text;
}

/// A line an element; where there are many, a line for all of one state and reason, with the age of the oldest.
std::string elements_text(const std::vector<jobs::ElementState>& elements, double now) {
  std::string text;
  if (elements.size() <= kListedElements) {
    for (const auto& element : elements)
      text += fmt::format("shard {} (job {}): {}\n", element.shard, element.job, element_text(element, now));
    return text;
  }
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, jobs::ElementState>> groups;
  for (const auto& element : elements) {
    auto& [count, oldest] = groups[{element.state, element.reason}];
    if (count++ == 0 || age_seconds(element, now) > age_seconds(oldest, now)) oldest = element;
  }
  for (const auto& [key, group] : groups) {
    text += fmt::format("{} elements (oldest: shard {}, job {}): {}\n", group.first, group.second.shard,
                        group.second.job, element_text(group.second, now));
  }
  return text;
}

nlohmann::ordered_json job_json(const jobs::ElementState& job, double now) {
  return {{"job", job.job},
          {"state", job.state},
          {"reason", job.reason},
          {"advice", job.advice},
          {"age_seconds", age_seconds(job, now)}};
}

/// What a keeper says, and what the batch system does, where it is its job.
std::string server_text(const log::NamedServer& server, double now) {
  const auto& note = server.note;
  auto text = fmt::format("server of model {}, replica {}{}: {}", server.name.server, server.name.replica,
                          note.job.empty() ? "" : fmt::format(" (job {})", note.job), log::to_string(note.state));
  if (note.state == log::ServerNote::State::healthy) text += " at " + note.address;
  if (note.since > 0) text += " since " + long_time(std::max(0.0, now - note.since));
  if (note.starts > 1) text += ", started twice";
  if (!note.text.empty()) text += "; it " + note.text;
  return text + "\n";
}

std::string servers_text(const StatusReport& report) {
  std::string text;
  for (const auto& server : report.servers) text += server_text(server, report.time);
  for (const auto& server : report.server_jobs) {
    const bool told = std::any_of(report.servers.begin(), report.servers.end(), [&](const auto& living) {
      return living.note.job == std::to_string(server.job.job);
    });
    if (!told && server.job.active)
      text += fmt::format("server of model {}, replica {} (job {}): {}\n", server.name, server.replica, server.job.job,
                          element_text(server.job, report.time));
  }
  return text;
}

nlohmann::ordered_json servers_json(const StatusReport& report) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, note] : report.servers) {
    list.push_back({{"server", name.server},
                    {"replica", name.replica},
                    {"for", name.owner},
                    {"state", log::to_string(note.state)},
                    {"address", note.address},
                    {"job", note.job},
                    {"starts", note.starts},
                    {"since", note.since},
                    {"text", note.text}});
  }
  return list;
}

nlohmann::ordered_json server_jobs_json(const StatusReport& report) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& server : report.server_jobs) {
    auto row = job_json(server.job, report.time);
    row["server"] = server.name;
    row["replica"] = server.replica;
    list.push_back(std::move(row));
  }
  return list;
}

/// What one can do about what is outstanding when nothing works on it.
std::string continue_text(const StatusReport& report) {
  const auto parked = report.reasons.find("parked");
  const auto count = parked == report.reasons.end() ? 0 : parked->second;
  std::string text;
  if (count < report.outstanding) text = fmt::format("`nkigrid resume {}` continues", report.folder);
  if (count > 0)
    text += fmt::format("{}`nkigrid resume {} --parked` tries the {} parked again", text.empty() ? "" : ", ",
                        report.folder, count);
  return text;
}

/// The job that makes the tables, while it is of interest: until somebody has made them.
std::string aggregation_text(const StatusReport& report) {
  if (report.tables_stand && report.aggregation && !report.aggregation->active) return {};
  if (!report.aggregation || report.aggregation->state == "COMPLETED" || report.aggregation->state == "ENDED")
    return {};
  auto text =
      fmt::format("tables (job {}): {}", report.aggregation->job, element_text(*report.aggregation, report.time));
  if (!report.aggregation->active) text += fmt::format("; `nkigrid resume {}` makes them", report.folder);
  return text + "\n";
}

}  // namespace

StatusReport make_status(const jobs::Run& run, const log::Ledger& ledger, double now) {
  StatusReport report;
  report.run = run.grid.name;
  report.time = now;
  report.folder = run.folder.native();
  report.grid_hash = run.grid_hash;
  report.episodes = run.plan.episodes.size();
  report.scored = ledger.scored();
  report.outstanding = ledger.outstanding();
  report.log_warnings = ledger.warnings;
  if (run.log_key.empty()) report.log_warnings.push_back(jobs::unverified_words(run.lost_log_key));
  if (auto builds = ledger.build_warning(); !builds.empty()) report.log_warnings.push_back(std::move(builds));
  report.rows_outside = ledger.ignored_rows;
  if (report.outstanding > 0)
    report.stopped_by = log::read_stopped_by(run.log_folder());  // a whole run was not stopped
  for (const auto& cell : run.plan.cells) report.cells.push_back({.cell = cell.id});
  for (std::size_t i = 0; i < run.plan.episodes.size(); ++i) {
    auto& cell = report.cells[run.plan.episodes[i].cell];
    ++cell.episodes;
    const auto& state = ledger.states[i];
    if (!state.is_scored()) {
      ++report.reasons[std::string(log::to_string(state.outstanding))];
      continue;
    }
    ++cell.scored;
    const auto outcome = ledger.ends[i]->outcome;
    cell.passed += outcome == Outcome::pass ? 1 : 0;
    ++report.outcomes[std::string(nkigrid::to_string(outcome))];
  }
  report.per_hour = scored_per_hour(ledger, now, report.outstanding == 0);
  for (const auto& node : ledger.bad_nodes()) report.bad_nodes.emplace(node, ledger.nodes.at(node));
  return report;
}

std::string node_text(const std::string& name, const log::NodeTally& node) {
  if (!node.refused.empty()) return fmt::format("node {} fails before an element can begin: {}", name, node.refused);
  return fmt::format("node {} eats episodes: {} attempts failed, {} scored{}", name, node.failures, node.scored,
                     node.failing > 0 ? fmt::format(", {} in a row at the end", node.failing) : "");
}

double StatusReport::eta_seconds() const noexcept {
  if (outstanding == 0) return 0;
  if (!endpoints.empty()) return -1;  // nobody knows when it is back
  return works && per_hour > 0 ? 3600.0 * static_cast<double>(outstanding) / per_hour : -1;
}

std::string to_json(const StatusReport& report, JsonLayout layout) {
  nlohmann::ordered_json json = {{"version", 1},
                                 {"time", report.time},
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
    json["cells"].push_back(
        {{"cell", cell.cell}, {"episodes", cell.episodes}, {"scored", cell.scored}, {"passed", cell.passed}});
  }
  for (const auto& element : report.elements) {
    auto row = job_json(element, report.time);
    row["shard"] = element.shard;
    json["elements"].push_back(std::move(row));
  }
  json["aggregation"] =
      report.aggregation ? job_json(*report.aggregation, report.time) : nlohmann::ordered_json(nullptr);
  json["endpoints"] = report.endpoints;
  json["narrowed"] = report.narrowed;
  json["servers"] = servers_json(report);
  json["server_jobs"] = server_jobs_json(report);
  json["per_hour"] = report.per_hour;
  json["eta_seconds"] =
      report.eta_seconds() < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(report.eta_seconds());
  json["bad_nodes"] = nlohmann::ordered_json::array();
  for (const auto& [name, node] : report.bad_nodes)
    json["bad_nodes"].push_back(
        {{"node", name}, {"failures", node.failures}, {"scored", node.scored}, {"refused", node.refused}});
  json["warning"] = report.cluster_warning;
  json["rows_outside"] = report.rows_outside;
  json["log_warnings"] = report.log_warnings;
  return json_text(json, layout == JsonLayout::line ? -1 : 2);
}

std::string to_line(const StatusReport& report) {
  std::string line = fmt::format("{}: {} of {} episodes scored, {} outstanding", report.run, report.scored,
                                 report.episodes, report.outstanding);
  if (report.eta_seconds() > 0) line += fmt::format(", {} to go", long_time(report.eta_seconds()));
  std::map<std::string, std::size_t> states;
  for (const auto& element : report.elements) ++states[element.state];
  const char* separator = "; elements: ";
  for (const auto& [state, count] : states)
    line += fmt::format("{}{} {}", std::exchange(separator, ", "), count, state);
  return line;
}

std::string to_text(const StatusReport& report) {
  std::string text = fmt::format("{}: {} of {} episodes scored, {} outstanding\n", report.run, report.scored,
                                 report.episodes, report.outstanding);
  std::size_t width = 4;
  for (const auto& cell : report.cells) width = std::max(width, cell.cell.size());
  text += fmt::format("\n{:<{}}  {:>14}  {:>7}\n", "cell", width, "scored", "passed");
  for (const auto& cell : report.cells) {
    text += fmt::format("{:<{}}  {:>6} / {:>5}  {:>7}\n", cell.cell, width, cell.scored, cell.episodes, cell.passed);
  }
  const auto list = [&](const char* title, const std::map<std::string, std::uint64_t>& counts) {
    if (counts.empty()) return;
    text += fmt::format("\n{}:", title);
    const char* separator = " ";
    for (const auto& [name, count] : counts)
      text += fmt::format("{}{} {}", std::exchange(separator, ", "), count, name);
    text += '\n';
  };
  list("outcomes", report.outcomes);
  list("outstanding", report.reasons);
  if (report.reasons.contains("killed"))
    text += "killed: begun and not ended, by a drain, a stop or a death; their turns stay and use up no try\n";
  if (report.per_hour > 0) {
    text += fmt::format("\nrate: {:.0f} episodes an hour{}\n", report.per_hour,
                        report.eta_seconds() > 0 ? ", " + long_time(report.eta_seconds()) + " to go at this rate" : "");
  }
  text += elements_text(report.elements, report.time);
  text += aggregation_text(report);
  text += servers_text(report);
  for (const auto& [model, what] : report.endpoints)
    text += fmt::format("the endpoint of model {} {}; its episodes wait, and no node is blamed\n", model, what);
  for (const auto& [model, what] : report.narrowed)
    text += fmt::format("the endpoint of model {} {} (it asked for fewer); more as it answers\n", model, what);
  for (const auto& [name, node] : report.bad_nodes)
    text +=
        fmt::format("{}; on a cluster `resume` leaves it out while enough others are there\n", node_text(name, node));
  if (report.rows_outside > 0)
    text += fmt::format(
        "\n{} rows of the log are of no episode of this grid (another cell, task, replicate or key): they "
        "are not counted\n",
        report.rows_outside);
  for (const auto& warning : report.log_warnings) text += fmt::format("\nwarning: {}\n", warning);
  if (!report.stopped_by.empty())
    text += fmt::format("\n{}stopped by {}\n", report.works ? "a session was, or is being, " : "", report.stopped_by);
  if (report.outstanding > 0 && !report.works && !report.elements.empty()) {
    text += fmt::format("\nnothing works on it; elements print to {}/log/element-<job>_<index>.out; {}\n",
                        report.folder, continue_text(report));
  }
  if (report.outstanding > 0 && !report.works && report.elements.empty())
    text += fmt::format("\nnothing works on it; `nkigrid resume {} --local` continues it\n", report.folder);
  return printable(text);  // names of nodes, words of servers
}

}  // namespace nkigrid::cli
