#include "aggregate/evidence/rule.hpp"

#include <fmt/format.h>

#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {

std::string_view to_string(Rule rule) noexcept {
  return rule == Rule::paper ? "paper" : rule == Rule::strict ? "strict" : "best";
}

Rule parse_rule(std::string_view text) {
  for (const auto rule : {Rule::paper, Rule::strict, Rule::best}) {
    if (to_string(rule) == text) return rule;
  }
  throw Error{ErrorCode::usage, fmt::format("unknown rule '{}' (paper, strict or best); choose one of them", text)};
}

bool passed(const log::End& end, Rule rule) noexcept {
  switch (rule) {
    case Rule::strict:
      return end.strict_passed == 1;
    case Rule::best:
      return end.best_passed == 1;
    case Rule::paper:
      break;
  }
  return end.passed == 1;
}

}  // namespace nkigrid::aggregate
