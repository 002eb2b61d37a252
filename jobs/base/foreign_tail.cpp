#include "jobs/base/foreign_tail.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>

#include "jobs/base/foreign_files.hpp"

namespace nkigrid {
namespace fs = std::filesystem;

std::string foreign_tail(const fs::path& folder, const fs::path& name, std::size_t most_bytes) noexcept try {
  const Fd file = open_foreign_file(folder, name);
  const auto size = ::lseek(file.get(), 0, SEEK_END);
  std::string bytes(most_bytes, '\0');
  const auto got =
      ::pread(file.get(), bytes.data(), most_bytes, std::max<off_t>(0, size - static_cast<off_t>(most_bytes)));
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
} catch (const std::exception&) {
  return {};
}

}  // namespace nkigrid
