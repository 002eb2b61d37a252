#include "cli/set_option.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "jobs/base/error.hpp"

namespace nkigrid::cli {

void add_set_option(CLI::App& app, std::vector<std::string>& sets) {
  app.add_option("--set", sets,
                 "override a key of the grid file, e.g. models.qwen.temperature=0.2; the frozen grid records it")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void refuse_sets_of_run(const std::vector<std::string>& sets, const std::string& run) {
  if (sets.empty()) return;
  throw Error(ErrorCode::usage,
              fmt::format("--set is for a grid file; '{}' is a frozen run, and keeps what it was frozen with", run));
}

}  // namespace nkigrid::cli
