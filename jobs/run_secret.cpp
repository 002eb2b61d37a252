#include "jobs/run_secret.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::jobs {
namespace {

constexpr std::size_t kDigits = 64;
constexpr std::string_view kHex = "0123456789abcdef";

std::string random_digits() {
  std::array<unsigned char, kDigits / 2> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw_errno(errno, "draw a secret (getrandom)");
  std::string digits;
  for (const unsigned char byte : bytes) digits += {kHex[byte >> 4U], kHex[byte & 15U]};
  return digits;
}

}  // namespace

std::string read_secret(const std::filesystem::path& folder, const char* name) {
  const auto path = folder / name;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file && errno == ENOENT) return {};
  if (!file && errno != ELOOP && errno != ENXIO) throw_errno(errno, "read", path.native());  // a link, a socket
  struct stat about = {};
  if (file && ::fstat(file.get(), &about) != 0) throw_errno(errno, "look at", path.native());
  std::string text(kDigits, '\0');
  const bool whole = file && S_ISREG(about.st_mode) && about.st_size == kDigits &&
                     ::pread(file.get(), text.data(), kDigits, 0) == static_cast<ssize_t>(kDigits) &&
                     std::ranges::all_of(text, [](char c) { return kHex.find(c) != std::string_view::npos; });
  if (!whole)
    throw Error(ErrorCode::corrupt,
                fmt::format("'{}' is no secret of a run (64 hex digits in a regular file that is no link); restore it",
                            path.native()));
  if ((about.st_mode & 077) != 0)
    throw Error(ErrorCode::corrupt,
                fmt::format("'{}' can be read by others; `chmod 600` it if nobody has", path.native()));
  return text;
}

bool can_read_secret(const std::filesystem::path& folder, const char* name) {
  return ::access((folder / name).c_str(), R_OK) == 0 || errno != EACCES;
}

std::string make_secret(const std::filesystem::path& folder, const char* name) {
  if (auto secret = read_secret(folder, name); !secret.empty()) return secret;
  const auto path = folder / name;
  // Beside and renamed in: another process finds a whole one or none, and the first to stand there is kept.
  const auto beside = folder / fmt::format(".{}.{}", name, ::getpid());
  ::unlink(beside.c_str());
  Fd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw_errno(errno, "write", beside.native());
  write_all(file.get(), random_digits(), beside);
  if (::fsync(file.get()) != 0) throw_errno(errno, "write", beside.native());
  file.close();
  const bool placed = ::link(beside.c_str(), path.c_str()) == 0 || errno == EEXIST ||
                      ::rename(beside.c_str(), path.c_str()) == 0;  // file systems without links
  const int error = errno;
  ::unlink(beside.c_str());
  if (!placed) throw_errno(error, "write", path.native());
  fsync_directory(folder);
  return read_secret(folder, name);
}

}  // namespace nkigrid::jobs
