#include "jobs/grid/problems.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "jobs/base/key_like.hpp"

namespace nkigrid::jobs {

void Problems::add(Place place, std::string message) {
  problems_.push_back({file_, place.line, place.col, without_key_like(std::move(message))});
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

}  // namespace nkigrid::jobs
