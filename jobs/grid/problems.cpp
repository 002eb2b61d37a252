#include "jobs/grid/problems.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "jobs/base/key_like.hpp"

namespace nkigrid::jobs {

std::uint32_t Problems::add_source(std::string name) {
  sources_.push_back(std::move(name));
  return static_cast<std::uint32_t>(sources_.size() - 1);
}

void Problems::add(Place place, std::string message) {
  problems_.push_back({place, without_key_like(std::move(message))});
}

std::vector<Problem> Problems::sorted() const {
  auto found = problems_;
  const auto order = [](const Found& problem) {
    return std::tie(problem.place.source, problem.place.line, problem.place.col);
  };
  std::stable_sort(found.begin(), found.end(), [&](const Found& a, const Found& b) { return order(a) < order(b); });
  // An alias, or a value that two readers look at, may be wrong twice in the same words.
  const auto same = [&](const Found& a, const Found& b) { return order(a) == order(b) && a.message == b.message; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  std::vector<Problem> sorted;
  for (auto& [place, message] : found)
    sorted.push_back({sources_.at(place.source), place.line, place.col, std::move(message)});
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

}  // namespace nkigrid::jobs
