#include "cli/log_folder.hpp"

#include <filesystem>

#include "jobs/run_directory.hpp"

namespace nkigrid::cli {

log::RunLog log_of_run(const std::string& run) { return {std::filesystem::path(run) / "log", jobs::read_run_id(run)}; }

}  // namespace nkigrid::cli
