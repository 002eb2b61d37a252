#include "runner/proc/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "jobs/base/error.hpp"

namespace nkigrid::proc {

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}
Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping Mapping::map(int fd, std::size_t size, Access access) {
  Mapping mapping;
  if (size == 0) return mapping;
  const int protection = access == Access::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  // Pages that are read come sixteen at a fault, cheaper than one by one beforehand; those that are written do not.
  const int beforehand = access == Access::read_only ? 0 : MAP_POPULATE;
  void* at = ::mmap(nullptr, size, protection, MAP_SHARED | beforehand, fd, 0);
  if (at == MAP_FAILED) throw_errno(errno, "map shared memory");
  mapping.data_ = static_cast<std::byte*>(at);
  mapping.size_ = size;
  return mapping;
}

Fd make_shared_memory(const char* name, std::size_t size) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) throw_errno(errno, "make shared memory", name);
  if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) throw_errno(errno, "size shared memory", name);
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    throw_errno(errno, "seal shared memory", name);
  return fd;
}

std::uint64_t file_size(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) throw_errno(errno, "look at a file");
  return static_cast<std::uint64_t>(facts.st_size);
}

}  // namespace nkigrid::proc
