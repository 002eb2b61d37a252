#include <memory>
#include <string>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/verb.hpp"
#include "jobs/run_directory.hpp"
#include "slurm/submit.hpp"

namespace nkigrid::cli {

Verb cancel_verb() {
  return {"cancel", "ends a run's Slurm jobs; what was logged stays, `resume` continues", [](CLI::App& app) -> Action {
            auto folder = std::make_shared<std::string>();
            app.add_option("run", *folder, "a submitted run")->required()->type_name("RUN");
            return [folder]() -> ExitCode {
              const auto run = jobs::load_run(*folder);
              const auto client = slurm::connect();
              const auto ids = slurm::cancel_run(run, *client);
              if (ids.empty())
                fmt::print("no living job of '{}'\n", run.folder.native());
              else
                fmt::print("cancelled {}\n", fmt::join(ids, ", "));
              return ExitCode::done;
            };
          }};
}

}  // namespace nkigrid::cli
