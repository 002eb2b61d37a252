#include "jobs/grid/named_file.hpp"

#include "jobs/base/foreign_files.hpp"

namespace nkigrid::jobs {

std::string read_named_file(const std::filesystem::path& file) {
  constexpr std::size_t kMostNamedBytes = std::size_t{16} << 20;
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  return read_foreign_file(folder, file.filename(), kMostNamedBytes);
}

}  // namespace nkigrid::jobs
