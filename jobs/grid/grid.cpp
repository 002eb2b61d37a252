#include "jobs/grid/grid.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;

namespace {

template <class Spec>
const Spec& by_name(const std::vector<Spec>& specs, std::string_view name, std::string_view kind) {
  const auto at = std::find_if(specs.begin(), specs.end(), [&](const Spec& spec) { return spec.name == name; });
  if (at == specs.end()) throw Error(ErrorCode::internal, fmt::format("the grid has no {} '{}'", kind, name));
  return *at;
}

}  // namespace

const ModelSpec& Grid::model(std::string_view wanted) const { return by_name(models, wanted, "model"); }
const ModeSpec& Grid::mode(std::string_view wanted) const { return by_name(modes, wanted, "mode"); }
const PromptSpec& Grid::prompt(std::string_view wanted) const { return by_name(prompts, wanted, "prompt"); }

fs::path configs_folder() {
  if (const char* named = std::getenv("NKIGRID_CONFIGS"); named != nullptr && *named != '\0') return named;
  std::error_code ignored;
  const auto binary = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& place : {binary / "../share/nkigrid/configs", binary / "../configs"}) {
    if (fs::is_directory(place, ignored)) return place.lexically_normal();
  }
  return NKIGRID_SOURCE_CONFIGS;
}

}  // namespace nkigrid::jobs
