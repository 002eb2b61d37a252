#include "runner/device/command/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/proc/shared_memory.hpp"

namespace nkigrid::device {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& name, std::string_view why) {
  throw Error(ErrorCode::external, fmt::format("its file '{}' {}", name.filename().native(), why));
}

void read_all(int fd, char* into, std::size_t size, const std::filesystem::path& name) {
  for (std::size_t done = 0; done < size;) {
    const auto got = ::read(fd, into + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) refuse(name, got == 0 ? "became shorter while it was read" : std::strerror(errno));
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace

Fd open_plain(const std::filesystem::path& folder, const std::filesystem::path& name) {
  const auto bare = name.filename();
  if (bare.empty() || bare == "." || bare == ".." || (name != bare && name != folder / bare)) {
    throw Error(
        ErrorCode::external,
        fmt::format("its file '{}' is not in the scratch folder itself (a bare name is wanted)", name.native()));
  }
  // Never waits on a pipe, never follows a link.
  Fd fd(::open((folder / bare).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd)
    refuse(name, errno == ENOENT ? "is not there" : errno == ELOOP ? "is a symbolic link" : std::strerror(errno));
  struct stat about = {};
  if (::fstat(fd.get(), &about) != 0) refuse(name, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) refuse(name, "is no regular file");
  return fd;
}

std::string read_plain(const std::filesystem::path& folder, const std::filesystem::path& name, std::size_t most_bytes) {
  const auto fd = open_plain(folder, name);
  const auto size = proc::file_size(fd.get());
  if (size == 0) refuse(name, "is empty");
  if (size > most_bytes) refuse(name, fmt::format("has {} bytes (at most {})", size, most_bytes));
  std::string bytes(size, '\0');
  read_all(fd.get(), bytes.data(), bytes.size(), name);
  return bytes;
}

void read_exactly(const std::filesystem::path& folder, const std::filesystem::path& name, std::span<std::byte> into) {
  const auto fd = open_plain(folder, name);
  const auto size = proc::file_size(fd.get());
  if (size != into.size()) refuse(name, fmt::format("has {} bytes, {} are wanted", size, into.size()));
  read_all(fd.get(), reinterpret_cast<char*>(into.data()), into.size(), name);
}

void write_private(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) throw_errno(errno, "make", path.native());
  write_all(fd.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  fd.close();
}

std::string without_folder(std::string text, const std::filesystem::path& folder) {
  const auto& name = folder.native();
  for (std::size_t at; (at = text.find(name + '/')) != std::string::npos;) text.erase(at, name.size() + 1);
  for (std::size_t at; (at = text.find(name)) != std::string::npos;) text.erase(at, name.size() - 1)[at] = '.';
  return text;
}

}  // namespace nkigrid::device
