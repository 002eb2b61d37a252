#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "jobs/base/files.hpp"

namespace nkigrid::proc {

/// A mapped range of memory, unmapped when it dies.
class Mapping {
 public:
  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  std::span<std::byte> writable() noexcept { return {data_, size_}; }
  std::size_t size() const noexcept { return size_; }

  enum class Access { read_only, read_write };
  /// Maps the first `size` bytes of a descriptor, shared, its pages faulted in. size 0 gives an empty mapping. @throws
  /// Error{io}
  static Mapping map(int fd, std::size_t size, Access access);

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Anonymous shared memory of fixed size: neither side can shrink it under the other. @throws Error{io}
Fd make_shared_memory(const char* name, std::size_t size);

/// Size of an open file [B]. @throws Error{io}
std::uint64_t file_size(int fd);

}  // namespace nkigrid::proc
