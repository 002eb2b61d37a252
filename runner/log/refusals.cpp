#include "runner/log/refusals.hpp"

#include <fcntl.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

fs::path folder_of(const fs::path& log_folder) { return log_folder / "refused"; }

}  // namespace

void note_refusal(const fs::path& log_folder, const std::string& node, const std::string& reason) noexcept {
  try {
    auto name = node;
    std::replace(name.begin(), name.end(), '/', '~');
    const auto path = folder_of(log_folder) / name;
    std::error_code ignored;
    if (reason.empty()) {
      fs::remove(path, ignored);
      return;
    }
    make_directories(path.parent_path());
    write_all(open_own_file(path, O_WRONLY | O_TRUNC).get(), reason,
              path);  // no atomic write: its other file would read as another node
  } catch (const std::exception&) {
  }
}

std::map<std::string, std::string> read_refusals(const fs::path& log_folder) {
  std::map<std::string, std::string> refusals;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_of(log_folder), ignored)) {
    const auto name = entry.path().filename().native();
    try {
      if (auto reason = read_foreign_file(folder_of(log_folder), name); !reason.empty())
        refusals[name] = std::move(reason);
    } catch (const std::exception&) {
      // Cleared between the listing and the look.
    }
  }
  return refusals;
}

}  // namespace nkigrid::log
