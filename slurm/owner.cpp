#include "slurm/owner.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

namespace nkigrid::slurm {
namespace {

constexpr std::string_view kMark = ", folder ";

struct FolderIdentity {
  std::uint64_t device = 0, inode = 0;
};

std::optional<FolderIdentity> identity_of(const std::filesystem::path& folder) {
  struct stat stat = {};
  if (::stat(folder.c_str(), &stat) != 0) return std::nullopt;
  return FolderIdentity{stat.st_dev, stat.st_ino};
}

std::optional<FolderIdentity> read_mark(const std::string& comment) {
  const auto at = comment.rfind(kMark);
  unsigned long long device = 0, inode = 0;
  if (at == std::string::npos || std::sscanf(comment.c_str() + at + kMark.size(), "%llu:%llu", &device, &inode) != 2)
    return std::nullopt;
  return FolderIdentity{device, inode};
}

}  // namespace

std::string folder_mark(const std::filesystem::path& folder) {
  const auto identity = identity_of(folder);
  return identity ? fmt::format("{}{}:{}", kMark, identity->device, identity->inode) : std::string();
}

bool is_of_run(const JobState& job, const jobs::Run& run) {
  std::error_code unknown;
  const bool works_here = std::filesystem::equivalent(job.work_folder, run.folder, unknown);
  const auto noted = read_mark(job.comment), here = identity_of(run.folder);
  if (!noted || !here) return job.work_folder.empty() || works_here || !jobs::is_run(job.work_folder);
  return noted->inode == here->inode || (works_here && noted->device != here->device);
}

}  // namespace nkigrid::slurm
