#include "cli/own_rights.hpp"

#include <unistd.h>

#include <iostream>
#include <string>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/grids.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/own_run.hpp"
#include "runner/mpi/comm.hpp"

namespace nkigrid::cli {
namespace {

bool is_granted_at_terminal() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) return false;
  fmt::print(stderr, "let it? [y/N] ");
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "yes");
}

}  // namespace

void require_own_rights(const jobs::Run& run, jobs::UsedPart part, bool trusted, bool may_ask) {
  if (jobs::is_own(run, part)) return;
  const auto rights = fmt::format("{}", fmt::join(jobs::rights_of(run.grid), "; "));
  const auto what = fmt::format("'{}' was not frozen here by you as it is now, and it {}", run.folder.native(), rights);
  if (!trusted && may_ask) {
    notice("{}", what);
    trusted = is_granted_at_terminal();
  }
  if (!trusted)
    throw Error(ErrorCode::config, fmt::format("{} (with your rights); read this, then give --trust-commands", what));
  jobs::mark_as_own(run);
}

jobs::Grid open_grid_to_use(const std::filesystem::path& file, const std::vector<std::string>& sets,
                            jobs::UsedPart part, bool trusted) {
  std::error_code ignored;
  const auto folder = std::filesystem::weakly_canonical(file, ignored).parent_path();
  if (jobs::is_run(folder)) require_own_rights(jobs::load_run(folder), part, trusted, !mpi::under_launcher());
  return open_grid(file, sets);
}

void add_trust_option(CLI::App& app, bool& trusted) {
  app.add_flag("--trust-commands", trusted, "let a run that somebody else froze start its commands and send your keys");
}

}  // namespace nkigrid::cli
