#include "cli/log_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/notice.hpp"

namespace nkigrid::cli {

log::RunLog log_of_run(const std::string& run) {
  auto [run_id, key, lost] = jobs::read_run_name(run);
  if (key.empty()) warn("{}", jobs::unverified_words(lost));
  return {std::filesystem::path(run) / "log", std::move(run_id), log::SealKey(std::move(key))};
}

void warn_of_log(const jobs::Run& run, const log::Ledger& ledger) {
  for (const auto& warning : ledger.warnings) warn("{}", warning);
  if (run.log_key.empty()) warn("{}", jobs::unverified_words(run.lost_log_key));
}

std::string size_text(const std::filesystem::path& folder) {
  std::uint64_t files = 0, bytes = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (!entry.is_regular_file(ignored)) continue;
    ++files;
    bytes += entry.file_size(ignored);
  }
  return fmt::format("{} files ({} MB) of '{}'", files, bytes / 1'000'000, folder.native());
}

}  // namespace nkigrid::cli
