#include "jobs/base/foreign_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const char* what) {
  throw Error(ErrorCode::io, fmt::format("'{}' is {} (files of a grid, a benchmark and a run are regular files that "
                                         "lie in its folder); copy the file itself there",
                                         path.native(), what));
}

/// One step down. ELOOP: the name is a link; ENOTDIR: it is a link where a folder is wanted, or no folder.
Fd step(const Fd& from, const fs::path& name, int flags, const fs::path& path) {
  Fd next(::openat(from.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  if (next) return next;
  const int error = errno;
  struct stat facts {};
  if (::fstatat(from.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode))
    refuse(path, "reached through a symbolic link");
  if (error == ENXIO) refuse(path, "a pipe, socket or device");
  throw_errno(error, "open", path.native());
}

void require_regular(const Fd& file, const fs::path& path) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) throw_errno(errno, "look at", path.native());
  if (S_ISDIR(facts.st_mode)) refuse(path, "a folder");
  if (!S_ISREG(facts.st_mode)) refuse(path, "a pipe, socket or device");
}

}  // namespace

Fd open_foreign_file(const fs::path& folder, const fs::path& name) {
  const auto path = folder / name;
  Fd at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at) throw_errno(errno, "open folder", folder.native());
  for (const auto& part : name.parent_path()) {
    if (part == ".." || part.is_absolute()) refuse(path, "outside its folder");
    at = step(at, part, O_RDONLY | O_DIRECTORY, path);
  }
  if (name.filename() == ".." || name.is_absolute()) refuse(path, "outside its folder");
  // Not blocking: a pipe without a writer is opened at once, and refused.
  Fd file = step(at, name.filename(), O_RDONLY | O_NONBLOCK | O_NOCTTY, path);
  require_regular(file, path);
  return file;
}

Fd open_own_file(const fs::path& path, int flags) {
  Fd file(::open(path.c_str(), flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666));
  if (!file && errno == ELOOP) refuse(path, "a symbolic link");
  if (!file) throw_errno(errno, "write", path.native());
  require_regular(file, path);
  return file;
}

std::string read_foreign_file(const fs::path& folder, const fs::path& name, std::size_t most_bytes) {
  const Fd file = open_foreign_file(folder, name);
  std::string bytes;
  constexpr std::size_t kPart = 1 << 16;
  for (ssize_t got = 1; got > 0;) {
    const auto have = bytes.size();
    if (have > most_bytes)
      throw Error(ErrorCode::io, fmt::format("'{}' is larger than {} MiB; nothing of a grid, a benchmark or a run is",
                                             (folder / name).native(), most_bytes >> 20));
    bytes.resize(have + kPart);
    while ((got = ::read(file.get(), bytes.data() + have, kPart)) < 0 && errno == EINTR) {
    }
    if (got < 0) throw_errno(errno, "read", (folder / name).native());
    bytes.resize(have + static_cast<std::size_t>(got));
  }
  return bytes;
}

bool has_foreign_file(const fs::path& folder, const fs::path& name) noexcept {
  struct stat facts {};
  return ::lstat((folder / name).c_str(), &facts) == 0;
}

}  // namespace nkigrid
