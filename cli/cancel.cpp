#include <memory>
#include <string>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/schedulers.hpp"
#include "cli/verb.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::cli {

Verb cancel_verb() {
  return {"cancel", "ends a run's Slurm jobs; what was logged stays, `resume` continues", [](CLI::App& app) -> Action {
            auto folder = std::make_shared<std::string>();
            app.add_option("run", *folder, "a submitted run")->required()->type_name("RUN");
            return [folder]() -> ExitCode {
              const auto run = jobs::load_run(*folder);
              const auto ids = site_scheduler()->cancel(run);
              if (ids.empty())
                say("no living job of '{}'\n", run.folder.native());
              else
                say("cancelled {}\n", fmt::join(ids, ", "));
              return ExitCode::done;
            };
          }};
}

}  // namespace nkigrid::cli
