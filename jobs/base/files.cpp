#include "jobs/base/files.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid {
namespace fs = std::filesystem;

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}
Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}
int Fd::release() noexcept { return std::exchange(fd_, -1); }
void Fd::close() {
  if (fd_ >= 0 && ::close(release()) != 0 && errno != EINTR) throw_errno(errno, "close file");
}

namespace {

Fd open_regular_file(const fs::path& path) {
  // Not blocking: a pipe without a writer is opened at once, and refused.
  Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd && errno != ENXIO) throw_errno(errno, "open", path.native());  // ENXIO: a socket
  struct stat facts {};
  if (fd && ::fstat(fd.get(), &facts) != 0) throw_errno(errno, "look at", path.native());
  if (fd && S_ISREG(facts.st_mode)) return fd;
  if (fd && S_ISDIR(facts.st_mode)) throw_errno(EISDIR, "read", path.native());
  throw Error(
      ErrorCode::io,
      fmt::format("'{}' is a pipe, socket or device (what is read is a regular file); put what it says into one",
                  path.native()));
}

}  // namespace

std::string read_file(const fs::path& path) {
  const Fd fd = open_regular_file(path);
  std::string bytes;
  std::size_t used = 0;
  constexpr std::size_t kMost = std::size_t{64} << 20;
  for (;;) {
    if (used > kMost)
      throw Error(ErrorCode::io,
                  fmt::format("'{}' is larger than {} MiB; give a file of what is wanted", path.native(), kMost >> 20));
    if (bytes.size() - used < 65536) bytes.resize(bytes.size() * 2 + 65536);
    const auto got = ::read(fd.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(errno, "read", path.native());
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const auto put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_errno(errno, "write", path.native());
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void fsync_directory(const fs::path& folder) {
  Fd fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) throw_errno(errno, "open folder", folder.native());
  if (::fsync(fd.get()) != 0) throw_errno(errno, "sync folder", folder.native());
}

mode_t file_mask() noexcept {
  static const mode_t mask = [] {
    const mode_t now = ::umask(022);
    ::umask(now);
    return now;
  }();
  return mask;
}

mode_t new_file_mode(const fs::path& folder) noexcept {
  struct stat about = {};
  const bool known = ::stat(folder.empty() ? "." : folder.c_str(), &about) == 0;
  // Who may enter a folder may see its files; a folder that others may only write to (/tmp) says nothing of them.
  const mode_t open_to = known ? about.st_mode : mode_t{0700};
  const mode_t readers = ((open_to & 0010U) != 0 ? 0060U : 0U) | ((open_to & 0001U) != 0 ? 0006U : 0U);
  return (0600U | readers) & ~file_mask();
}

void write_file_atomic(const fs::path& path, std::string_view bytes) {
  std::string beside = fmt::format("{}.XXXXXX", path.native());
  Fd fd(::mkostemp(beside.data(), O_CLOEXEC));
  if (!fd) throw_errno(errno, "write", path.native());
  try {
    write_all(fd.get(), bytes, path);
    if (::fchmod(fd.get(), new_file_mode(path.parent_path())) != 0 || ::fsync(fd.get()) != 0)
      throw_errno(errno, "write", path.native());
    fd.close();
    if (::rename(beside.c_str(), path.c_str()) != 0) throw_errno(errno, "replace", path.native());
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
  fsync_directory(path.parent_path());
}

void make_directories(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw_errno(error.value(), "create folder", folder.native());
}

std::optional<std::filesystem::path> find_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path == nullptr ? "" : path; !rest.empty();) {
    const auto folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    const auto program = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (::access(program.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(program, ignored)) return program;
  }
  return std::nullopt;
}

TemporaryDirectory::TemporaryDirectory(std::string_view prefix) {
  const char* base = ::getenv("TMPDIR");
  std::string pattern = fmt::format("{}/{}.XXXXXX", base != nullptr && *base != '\0' ? base : "/tmp", prefix);
  if (::mkdtemp(pattern.data()) == nullptr) throw_errno(errno, "create folder", pattern);
  path_ = pattern;
}
TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace nkigrid
