#include "jobs/run_folders.hpp"

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

void require_own_folder(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_symlink(folder, ignored)) return;
  throw Error(ErrorCode::io, fmt::format("'{}' is a symbolic link (a run lies in one folder); move what it points "
                                         "at there",
                                         folder.native()));
}

}  // namespace

void require_own_folders(const fs::path& run) {
  for (const char* name : {"inputs", "plan", "log", "log/locks", "log/damaged", "log/endpoints", "log/refused",
                           "log/servers", "log/stopped_by", "tables", "scripts"})
    require_own_folder(run / name);
}

fs::path make_own_folder(const fs::path& run, const char* name) {
  auto folder = run / name;
  require_own_folder(folder);
  make_directories(folder);
  return folder;
}

}  // namespace nkigrid::jobs
