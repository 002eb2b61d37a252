#include "cli/log_folder.hpp"

#include <filesystem>
#include <utility>

#include "jobs/base/notice.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::cli {

log::RunLog log_of_run(const std::string& run) {
  auto [run_id, key, lost] = jobs::read_run_name(run);
  if (key.empty()) warn("{}", jobs::unverified_words(lost));
  return {std::filesystem::path(run) / "log", std::move(run_id), log::SealKey(std::move(key))};
}

}  // namespace nkigrid::cli
