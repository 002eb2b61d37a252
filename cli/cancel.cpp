#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/json_text.hpp"
#include "cli/schedulers.hpp"
#include "cli/verb.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::cli {
namespace {

struct CancelOptions {
  std::string run;
  bool json = false;
};

/// Whether a batch system may hold jobs of a run: submitted by us, or by hand from the scripts of a dry run.
bool may_have_jobs(const jobs::Run& run, const jobs::Scheduler& scheduler) {
  return scheduler.is_submitted(run) || std::filesystem::exists(run.folder / "scripts");
}

ExitCode cancel(const CancelOptions& options) {
  const auto run = jobs::load_run(options.run);
  const auto scheduler = site_scheduler();
  const bool asked = may_have_jobs(run, *scheduler);
  const auto ids = asked ? scheduler->cancel(run) : std::vector<std::uint32_t>{};
  if (options.json)
    fmt::print("{}", json_text({{"version", 1}, {"run", run.folder.native()}, {"cancelled", ids}}));
  else if (!ids.empty())
    say("cancelled {}\n", fmt::join(ids, ", "));
  else if (asked)
    say("no living job of '{}'\n", run.folder.native());
  else
    say("'{}' was never submitted: there is no job to cancel (Ctrl-C ends a `run` on this machine)\n",
        run.folder.native());
  return ExitCode::done;
}

}  // namespace

Verb cancel_verb() {
  return {"cancel", "ends a run's Slurm jobs; what was logged stays, `resume` continues", [](CLI::App& app) -> Action {
            auto options = std::make_shared<CancelOptions>();
            app.add_option("run", options->run, "a submitted run")->required()->type_name("RUN");
            app.add_flag("--json", options->json, "machine-readable, on stdout");
            return [options] { return cancel(*options); };
          }};
}

}  // namespace nkigrid::cli
