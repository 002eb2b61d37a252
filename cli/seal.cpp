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
#include "jobs/base/clock.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/heartbeat.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/check.hpp"
#include "runner/log/salvage.hpp"
#include "runner/log/segment.hpp"
#include "runner/log/set_aside.hpp"

namespace nkigrid::cli {
namespace {

struct SealOptions {
  std::string run;
  bool json = false, quiet = false;
};

void print_json(const std::vector<std::filesystem::path>& written, const std::vector<log::Salvaged>& salvaged) {
  nlohmann::ordered_json out = {
      {"version", 1}, {"segments", nlohmann::ordered_json::array()}, {"salvaged", nlohmann::ordered_json::array()}};
  for (const auto& segment : written) out["segments"].push_back(segment.filename().native());
  for (const auto& file : salvaged)
    out["salvaged"].push_back({{"file", file.file.filename().native()}, {"what", file.what}});
  fmt::print("{}", json_text(out));
}

/// Damage that cost records fails the call that finds it; later ones know it.
bool lost_something(const std::vector<log::Note>& before, const std::vector<log::Note>& after,
                    const std::vector<log::Salvaged>& salvaged) {
  const auto is_new = [&](const log::Note& note) {
    return std::none_of(before.begin(), before.end(), [&](const log::Note& old) { return old.file == note.file; });
  };
  return std::any_of(after.begin(), after.end(),
                     [&](const log::Note& note) {
                       return is_new(note) && (note.missing_records > 0 || note.damaged_bytes > 0);
                     }) ||
         std::any_of(salvaged.begin(), salvaged.end(), [](const log::Salvaged& file) { return file.lost; });
}

ExitCode seal(const SealOptions& options) {
  // Only the log is touched: a run whose inputs are damaged can still be sealed.
  jobs::require_log_key(options.run, jobs::read_run_name(options.run).lost_log_key);
  const auto log = log_of_run(options.run);
  const auto before = log::read_notes(log.folder);
  const auto salvaged = [&] {
    const Heartbeat beat(options.quiet ? "" : "looking for damage in " + size_text(log.folder));
    return log::salvage(log);
  }();
  const SystemClock clock;
  const auto written = log::seal_all(log, options.quiet ? log::SealProgress() : log::tell_seal_progress(clock));
  for (const auto& file : salvaged) warn("{}", file.what);
  const auto notes = log::read_notes(log.folder);
  const auto aside = notes.size() - before.size();
  if (aside > 0)
    warn("{} files are set aside in '{}', with a note each; `resume` runs again what was lost", aside,
         (log.folder / "damaged").native());
  if (options.json)
    print_json(written, salvaged);
  else
    for (const auto& segment : written) fmt::print("{}\n", segment.native());
  if (!options.quiet) fmt::print(stderr, "{} segments written\n", written.size());
  if (lost_something(before, notes, salvaged))
    throw Error(ErrorCode::corrupt, fmt::format("damaged files of '{}' held records that could not be saved; `nkigrid "
                                                "log check` lists them, `nkigrid resume` runs those episodes again",
                                                log.folder.native()));
  const Heartbeat beat(options.quiet ? "" : "proving what was written in " + size_text(log.folder));
  // What is still unreadable is of another version: not ours to seal or to move.
  for (const auto& file : log::check_log(log)) {
    if (!file.error.empty()) throw Error(ErrorCode::corrupt, file.error);
  }
  return ExitCode::done;
}

}  // namespace

Verb seal_verb() {
  return {"seal",
          "turns the journals of dead or finished writers into HDF5 segments; saves what is whole of damaged files",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<SealOptions>();
            app.add_option("run", options->run, "run folder")->required()->type_name("RUN");
            app.add_flag("--json", options->json, "machine-readable");
            app.add_flag("-q,--quiet", options->quiet, "print the segments alone");
            return [options] { return seal(*options); };
          }};
}

}  // namespace nkigrid::cli
