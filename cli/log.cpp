#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/json_text.hpp"
#include "cli/log_folder.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/heartbeat.hpp"
#include "jobs/base/notice.hpp"
#include "runner/log/check.hpp"
#include "runner/log/segment_reader.hpp"
#include "runner/log/set_aside.hpp"

namespace nkigrid::cli {
namespace {

struct LogOptions {
  std::string run;
  bool json = false, quiet = false;
};

nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

void print_json(const std::vector<log::FileCheck>& checks, std::size_t damaged, const std::vector<log::Note>& notes) {
  nlohmann::ordered_json out = {{"version", 1},
                                {"damaged", damaged},
                                {"files", nlohmann::ordered_json::array()},
                                {"set_aside", nlohmann::ordered_json::array()}};
  for (const auto& note : notes) {
    out["set_aside"].push_back({{"file", note.file},
                                {"reason", note.reason},
                                {"records", note.records},
                                {"damaged_bytes", note.damaged_bytes},
                                {"missing_records", note.missing_records}});
  }
  for (const auto& c : checks) {
    out["files"].push_back({{"file", c.file.filename().native()},
                            {"records", c.records},
                            {"seq_first", c.first_sequence},
                            {"seq_last", c.last_sequence},
                            {"torn_tail_bytes", c.torn_tail_bytes},
                            {"damaged_bytes", c.damaged_bytes},
                            {"missing_records", c.missing_records},
                            {"left_out", text_or_null(c.left_out)},
                            {"error", text_or_null(c.error)}});
  }
  fmt::print("{}", json_text(out));
}

void print_table(const std::vector<log::FileCheck>& checks, const std::vector<log::Note>& notes) {
  std::size_t width = 4;
  for (const auto& c : checks) width = std::max(width, c.file.filename().native().size());
  say("{:<{}}  {:>9}  {:>10}  {:>13}  {:>15}\n", "file", width, "records", "torn bytes", "damaged bytes",
      "missing records");
  for (const auto& c : checks) {
    say("{:<{}}  {:>9}  {:>10}  {:>13}  {:>15}\n", c.file.filename().native(), width, c.records, c.torn_tail_bytes,
        c.damaged_bytes, c.missing_records);
    for (const auto& text : {c.left_out, c.error})
      if (!text.empty()) say("  {}\n", text);
  }
  for (const auto& note : notes) say("set aside: damaged/{}: {}\n", note.file, note.reason);
}

/// What helps is another thing for a file that a later nkigrid wrote, and for two that contradict each other.
std::string advice(const std::vector<log::FileCheck>& checks, const std::string& run) {
  const auto can_be_sealed = [](const log::FileCheck& c) {
    return c.damaged() && !c.is_beyond_saving && !log::is_other_version(c.file);
  };
  if (std::none_of(checks.begin(), checks.end(), can_be_sealed)) return "what to do stands beside each of them above";
  return fmt::format(
      "`nkigrid seal {}` saves what is whole in them and sets them aside, `resume` runs again what was "
      "lost",
      run);
}

ExitCode check(const LogOptions& options) {
  const auto log = log_of_run(options.run);
  const auto checks = [&] {
    const Heartbeat beat(options.quiet ? "" : "reading " + size_text(log.folder));
    return log::check_log(log);
  }();
  const auto notes = log::read_notes(log.folder);
  const auto damaged =
      static_cast<std::size_t>(std::count_if(checks.begin(), checks.end(), [](const auto& c) { return c.damaged(); }));
  if (options.json)
    print_json(checks, damaged, notes);
  else if (!options.quiet)
    print_table(checks, notes);
  for (const auto& c : checks)
    if (!c.left_out.empty()) warn("{}", c.left_out);
  if (damaged > 0) {
    throw Error(ErrorCode::corrupt, fmt::format("{} of {} log files of '{}' are damaged or do not count; {}", damaged,
                                                checks.size(), options.run, advice(checks, options.run)));
  }
  return ExitCode::done;
}

}  // namespace

Verb log_verb() {
  return {"log", "log check RUN: reads a run's whole log and proves it", [](CLI::App& app) -> Action {
            auto options = std::make_shared<LogOptions>();
            app.require_subcommand(1);
            auto* sub =
                app.add_subcommand("check", "reads every record, prints what each file holds; exit 3 on damage");
            sub->add_option("run", options->run, "run folder")->required()->type_name("RUN");
            sub->add_flag("--json", options->json, "machine-readable");
            sub->add_flag("-q,--quiet", options->quiet, "print nothing, tell by the exit code");
            return [options] { return check(*options); };
          }};
}

}  // namespace nkigrid::cli
