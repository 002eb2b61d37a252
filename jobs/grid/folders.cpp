#include "jobs/grid/folders.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "jobs/base/text.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;

Folders Folders::of(Place place) const {
  return {place.source < beside.size() ? beside[place.source] : base, configs, beside};
}

std::optional<fs::path> Folders::find(const fs::path& name) const {
  std::error_code ignored;
  if (name.is_absolute()) return fs::exists(name, ignored) ? std::optional(name) : std::nullopt;
  for (const auto& folder : {base, configs}) {
    if (!folder.empty() && fs::exists(folder / name, ignored)) return (folder / name).lexically_normal();
  }
  return std::nullopt;
}

std::vector<std::string> Folders::beside_of(const fs::path& name) const {
  std::vector<std::string> names;
  for (const auto& folder : {base, configs}) {
    if (folder.empty() && name.is_relative()) continue;
    std::error_code ignored;
    for (fs::directory_iterator at((folder / name).parent_path(), ignored), end; at != end; at.increment(ignored)) {
      if (at->path().extension() == name.extension()) names.push_back(at->path().filename().native());
    }
  }
  std::sort(names.begin(), names.end());  // a folder has no order of its own
  return names;
}

std::string Folders::near(const fs::path& name) const {
  auto names = beside_of(name);
  for (auto& each : names) each = (name.parent_path() / each).native();
  return did_you_mean(name.native(), names);
}

std::string Folders::near_stem(const fs::path& name) const {
  auto names = beside_of(name);
  for (auto& each : names) each = fs::path(each).stem().native();
  return did_you_mean(name.stem().native(), names);
}

std::string Folders::looked_in() const {
  return configs.empty() ? fmt::format(" (looked in {})", base.native())
                         : fmt::format(" (looked in {} and {})", base.native(), configs.native());
}

}  // namespace nkigrid::jobs
