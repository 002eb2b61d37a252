#include "cli/log_folder.hpp"

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::cli {

std::filesystem::path log_folder_of(const std::string& run) {
  if (!jobs::is_run(run)) {
    throw Error(
        ErrorCode::config,
        fmt::format("not a run '{}' (a folder with a frozen grid.yaml); give the folder that `run -o` made", run));
  }
  return std::filesystem::path(run) / "log";
}

}  // namespace nkigrid::cli
