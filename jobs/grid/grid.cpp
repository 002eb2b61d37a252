#include "jobs/grid/grid.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/grid/problems.hpp"

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

void Problems::add(Place place, std::string message) {
  problems_.push_back({file_, place.line, place.col, std::move(message)});
}

std::vector<Problem> Problems::sorted() const {
  auto sorted = problems_;
  const auto place = [](const Problem& problem) { return std::tie(problem.line, problem.col); };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Problem& a, const Problem& b) { return place(a) < place(b); });
  // An alias, or a value that two readers look at, may be wrong twice in the same words.
  const auto same = [&](const Problem& a, const Problem& b) { return place(a) == place(b) && a.message == b.message; };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  return sorted;
}

std::string to_text(const std::vector<Problem>& problems) {
  std::string text;
  for (const auto& problem : problems) {
    if (!text.empty()) text += '\n';
    text += problem.line == 0 ? fmt::format("{}: {}", problem.file, problem.message)
                              : fmt::format("{}:{}:{}: {}", problem.file, problem.line, problem.col, problem.message);
  }
  return text;
}

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
