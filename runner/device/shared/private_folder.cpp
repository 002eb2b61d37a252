#include "runner/device/shared/private_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::device {
namespace fs = std::filesystem;

void make_private_folder(const fs::path& folder) {
  make_directories(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) throw_errno(errno, "create folder", folder.native());
  struct stat facts {};
  if (::lstat(folder.c_str(), &facts) != 0) throw_errno(errno, "look at folder", folder.native());
  if (!S_ISDIR(facts.st_mode) || facts.st_uid != ::geteuid() || (facts.st_mode & 022) != 0) {
    throw Error(
        ErrorCode::io,
        fmt::format("node-local folder '{}' is no folder that this user alone can write; remove it or fix its owner "
                    "and mode, or set TMPDIR",
                    folder.native()));
  }
}

}  // namespace nkigrid::device
