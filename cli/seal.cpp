#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/check.hpp"
#include "runner/log/segment.hpp"

namespace nkigrid::cli {
namespace {

struct Options {
  std::string run;
  bool json = false, quiet = false;
};

int seal(const Options& options) {
  // Only the log is touched: a run whose inputs are damaged can still be sealed.
  if (!jobs::is_run(options.run)) {
    throw Error(
        ErrorCode::config,
        fmt::format("not a run '{}' (a folder with a frozen grid.yaml); give the folder that `run -o` made",
                    options.run));
  }
  // What cannot be read cannot be sealed: said here, with what to do, not passed over.
  for (const auto& file : log::check_log(std::filesystem::path(options.run) / "log")) {
    if (!file.error.empty()) throw Error(ErrorCode::corrupt, file.error);
  }
  const auto written = log::seal_all(std::filesystem::path(options.run) / "log");
  if (options.json) {
    nlohmann::ordered_json out = {{"version", 1}, {"segments", nlohmann::ordered_json::array()}};
    for (const auto& segment : written) out["segments"].push_back(segment.filename().native());
    fmt::print("{}\n", out.dump(1));
    return 0;
  }
  for (const auto& segment : written) fmt::print("{}\n", segment.native());
  if (!options.quiet) fmt::print(stderr, "{} journals sealed\n", written.size());
  return 0;
}

}  // namespace

Verb seal_verb() {
  return {"seal", "turns the journals of dead or finished writers into HDF5 segments",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("run", options->run, "run folder")->required()->type_name("RUN");
            app.add_flag("--json", options->json, "machine-readable");
            app.add_flag("--quiet", options->quiet, "print the segments alone");
            return [options] { return seal(*options); };
          }};
}

}  // namespace nkigrid::cli
