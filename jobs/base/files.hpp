#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace nkigrid {

/// Owns a file descriptor. close() reports; the destructor only closes.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  ~Fd();
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept;
  /// @throws Error{io}: a failed close may be a failed write (NFS, quota).
  void close();

 private:
  int fd_ = -1;
};

/// Reads a whole regular file, of at most 64 MiB (a pipe would hang us). @throws Error{io} naming the path.
std::string read_file(const std::filesystem::path& path);

/// Replaces `path` so that a reader, or a crash at any moment, sees the old bytes or the new ones: writes beside it,
/// fsyncs, renames in, fsyncs the folder. @throws Error{io}; the old file is then untouched and no litter is left.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

/// The umask that this process was started with: files that are made under other names (mkstemp gives them 0600) get
/// what open() would have given them. It is read once, at the first call.
mode_t file_mask() noexcept;

/// What a new file of `folder` may be open to: those whom the umask and the folder let. @returns mode bits
mode_t new_file_mode(const std::filesystem::path& folder) noexcept;

/// Makes a name in a folder durable after a create, rename or unlink. @throws Error{io}
void fsync_directory(const std::filesystem::path& folder);

/// write(2) until done. @throws Error{io} naming `path`.
void write_all(int fd, std::string_view bytes, const std::filesystem::path& path);

/// mkdir -p. @throws Error{io}
void make_directories(const std::filesystem::path& folder);

/// A program by its name, along PATH as a shell looks for it.
std::optional<std::filesystem::path> find_program(std::string_view name);

/// A folder with a random name that is removed with all it holds when the object dies.
class TemporaryDirectory {
 public:
  /// Under $TMPDIR, else /tmp. @throws Error{io}
  explicit TemporaryDirectory(std::string_view prefix = "nkigrid");
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace nkigrid
