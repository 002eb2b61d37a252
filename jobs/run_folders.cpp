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

/// Links to files are refused where one is opened.
void require_file(const fs::directory_entry& link) {
  std::error_code ignored;
  if (!link.is_regular_file(ignored)) require_own_folder(link.path());
}

}  // namespace

void require_own_folders(const fs::path& run) {
  for (const char* name : {"inputs", "plan", "log", "tables", "scripts"}) {
    require_own_folder(run / name);
    std::error_code ended, gone;
    fs::recursive_directory_iterator entry(run / name, fs::directory_options::skip_permission_denied, ended), end;
    for (; !ended && entry != end; entry.increment(ended))
      if (entry->is_symlink(gone)) require_file(*entry);
  }
}

fs::path make_own_folder(const fs::path& run, const char* name) {
  auto folder = run / name;
  require_own_folder(folder);
  make_directories(folder);
  return folder;
}

}  // namespace nkigrid::jobs
