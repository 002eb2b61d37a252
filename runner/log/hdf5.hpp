#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nkigrid {
class Fd;
}
namespace nkigrid::log {
struct FrontSeal;
}

/// The little of HDF5 that segments need: one wrapper a call, RAII for ids, errors as nkigrid::Error. hdf5.h
/// stays in hdf5*.cpp.
///
/// @threads Debian's HDF5 is not thread-safe: every call here takes one process-wide lock. A handle belongs
/// to one thread at a time.
namespace nkigrid::log::h5 {

class Chunks;
using Hid = std::int64_t;

/// @returns HDF5's status, negative on failure
int close_file(Hid id) noexcept;
int close_group(Hid id) noexcept;
int close_dataset(Hid id) noexcept;

/// Owns one HDF5 id. close() reports; the destructor only closes.
template <int (*Close)(Hid) noexcept>
class Handle {
 public:
  Handle() = default;
  explicit Handle(Hid id) noexcept : id_(id) {}
  ~Handle() {
    if (id_ >= 0) Close(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      if (id_ >= 0) Close(id_);
      id_ = std::exchange(other.id_, -1);
    }
    return *this;
  }
  Hid get() const noexcept { return id_; }
  /// @throws Error{internal}: our files live in memory or are only read, so a failed close is a handle that
  /// was forgotten
  void close() {
    if (id_ >= 0 && Close(std::exchange(id_, -1)) < 0) fail_close();
  }

 private:
  [[noreturn]] static void fail_close();
  Hid id_ = -1;
};

[[noreturn]] void throw_close_failed();
template <int (*Close)(Hid) noexcept>
void Handle<Close>::fail_close() {
  throw_close_failed();
}

using File = Handle<close_file>;
using Group = Handle<close_group>;
using Dataset = Handle<close_dataset>;

/// What has attributes; a File or a Group stands for itself.
class Holder {
 public:
  Holder(const File& file) noexcept : id_(file.get()) {}     // NOLINT(google-explicit-constructor)
  Holder(const Group& group) noexcept : id_(group.get()) {}  // NOLINT(google-explicit-constructor)
  Hid get() const noexcept { return id_; }

 private:
  Hid id_;
};

enum class Number : std::uint8_t { int8, uint8, int32, uint32, uint64, float64 };

// Writing. @throws Error{internal} with HDF5's most specific message.

/// A new file that lives in memory: HDF5 copes badly with a disk that fills up under it, so it never meets
/// one.
class MemoryFile {
 public:
  MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  const File& file() const noexcept { return file_; }
  /// Closes the file and shows its bytes, which live as long as this. Other handles of the file must be closed. Call
  /// once.
  std::string_view close();

 private:
  struct Image;
  std::unique_ptr<Image, void (*)(Image*)> image_;  ///< outlives the file
  File file_;
};
Group create_group(const File& file, const std::string& name);
void write_attribute(Holder holder, const std::string& name, std::string_view word);
void write_attribute(Holder holder, const std::string& name, std::uint64_t value);
void write_attribute(Holder holder, const std::string& name, std::int32_t value);
void write_numbers(const Group& group, const std::string& name, Number type, std::uint64_t rows, const void* values);
/// @param packed rows x width bytes, NUL padded
void write_words(const Group& group, const std::string& name, std::uint64_t rows, std::size_t width,
                 const char* packed);
/// A growing 1-D uint8 dataset of the file.
Dataset create_bytes(const File& file, const std::string& name);
void append_bytes(const Dataset& dataset, std::uint64_t at, std::string_view bytes);

// Reading. @throws Error{corrupt} with HDF5's most specific message.

/// Opens a finished file read only, without HDF5's own file locks: it is immutable.
File open_file(const std::filesystem::path& path);
/// The same of a file whose seal was proven: what is not as it was sealed cannot be read.
File open_sealed(const Fd& fd, const FrontSeal& seal, const std::filesystem::path& name);
Group open_group(const File& file, const std::string& name);
bool has_attribute(Holder holder, const std::string& name);
std::string read_word_attribute(Holder holder, const std::string& name);
std::uint64_t read_number_attribute(Holder holder, const std::string& name);
std::uint64_t rows_of(const Group& group, const std::string& column);

/// A column of fixed-length words.
struct Words {
  std::size_t width = 0;
  std::string packed;
  std::string_view at(std::uint64_t row) const noexcept;
};
/// @param rows what the group's other columns have; another length is corrupt
/// @param lost {rows}, or null: what cannot be read is left at zero and marked here, chunk by chunk, instead of failing
std::string read_numbers(const Group& group, const std::string& name, Number type, std::uint64_t rows,
                         std::vector<bool>* lost = nullptr);
Words read_words(const Group& group, const std::string& name, std::uint64_t rows, std::vector<bool>* lost = nullptr);

/// A dataset of bytes, read piece by piece; the last pieces stay in memory.
class Bytes {
 public:
  Bytes(const Group& group, const std::string& name);
  Bytes(Bytes&&) noexcept;
  ~Bytes();
  /// @throws Error{corrupt} also for what lies outside
  std::string read(std::uint64_t at, std::uint64_t size);

 private:
  const std::string& chunk(std::uint64_t index);

  Dataset dataset_;
  std::unique_ptr<Chunks> chunks_;
  std::list<std::pair<std::uint64_t, std::string>> recent_;  ///< by chunk, the one used last first
};

}  // namespace nkigrid::log::h5
