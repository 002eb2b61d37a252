#include "jobs/grid/folders.hpp"

#include <fmt/core.h>

namespace nkigrid::jobs {
namespace fs = std::filesystem;

std::optional<fs::path> Folders::find(const fs::path& name) const {
  std::error_code ignored;
  if (name.is_absolute()) return fs::exists(name, ignored) ? std::optional(name) : std::nullopt;
  for (const auto& folder : {base, configs}) {
    if (!folder.empty() && fs::exists(folder / name, ignored)) return (folder / name).lexically_normal();
  }
  return std::nullopt;
}

std::string Folders::looked_in() const {
  return configs.empty() ? fmt::format(" (looked in {})", base.native())
                         : fmt::format(" (looked in {} and {})", base.native(), configs.native());
}

}  // namespace nkigrid::jobs
