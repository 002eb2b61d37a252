#include "exports/chosen.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "jobs/base/error.hpp"
#include "jobs/base/outcome.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::exports {
namespace {

constexpr const char* kOutstanding = "outstanding";

bool any_matches(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return matches(pattern, text); });
}

void check_list(const char* what, const std::vector<std::string>& wanted, const std::vector<std::string>& known) {
  for (const auto& pattern : wanted) {
    const bool found =
        std::any_of(known.begin(), known.end(), [&](const auto& word) { return matches(pattern, word); });
    if (!found)
      throw Error(ErrorCode::usage,
                  fmt::format("no {} '{}' in this run{}", what, pattern, did_you_mean(pattern, known)));
  }
}

std::vector<std::string> outcome_words() {
  std::vector<std::string> words = {kOutstanding};
  for (int i = 0; i < kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (is_scored(outcome)) words.emplace_back(to_string(outcome));
  }
  return words;
}

std::vector<std::string> code_words() {
  std::set<std::string> words;
  for (int i = 1; i < kCodes; ++i) {
    words.emplace(to_string(static_cast<Code>(i)));
    words.emplace(group_of(static_cast<Code>(i)));
  }
  return {words.begin(), words.end()};
}

bool fits_end(const std::optional<log::End>& end, const Chosen& chosen) {
  if (!any_matches(chosen.outcomes, end ? std::string(to_string(end->outcome)) : kOutstanding)) return false;
  if (chosen.codes.empty()) return true;
  return end && end->code != Code::none &&
         (any_matches(chosen.codes, std::string(to_string(end->code))) ||
          any_matches(chosen.codes, std::string(group_of(end->code))));
}

}  // namespace

bool matches(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

void check_chosen(const jobs::Plan& plan, const Chosen& chosen) {
  std::vector<std::string> cells, tasks;
  std::set<std::string> levels, categories;
  for (const auto& cell : plan.cells) cells.push_back(cell.id);
  for (const auto& task : plan.tasks)
    tasks.push_back(task.id), levels.insert(task.level), categories.insert(task.category);
  check_list("cell", chosen.cells, cells);
  check_list("task", chosen.tasks, tasks);
  check_list("level", chosen.levels, {levels.begin(), levels.end()});
  check_list("category", chosen.categories, {categories.begin(), categories.end()});
  check_list("outcome", chosen.outcomes, outcome_words());
  check_list("code", chosen.codes, code_words());
}

std::vector<std::uint32_t> places_of(const jobs::Plan& plan, const log::Ledger& ledger, const Chosen& chosen) {
  std::vector<std::uint32_t> places;
  for (std::uint32_t place = 0; place < plan.episodes.size(); ++place) {
    const auto& planned = plan.episodes[place];
    const auto& task = plan.tasks[planned.task];
    if (any_matches(chosen.cells, plan.cells[planned.cell].id) && any_matches(chosen.tasks, task.id) &&
        any_matches(chosen.levels, task.level) && any_matches(chosen.categories, task.category) &&
        fits_end(ledger.ends[place], chosen))
      places.push_back(place);
  }
  return places;
}

}  // namespace nkigrid::exports
