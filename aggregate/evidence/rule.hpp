#pragma once

#include <string_view>

#include "runner/log/records.hpp"

namespace nkigrid::aggregate {

/// Which verdict counts as a pass: the final kernel by the paper's rule, by the strict one, or the best
/// kernel by the paper's.
enum class Rule { paper, strict, best };

std::string_view to_string(Rule rule) noexcept;
/// @throws Error{usage}
Rule parse_rule(std::string_view text);

/// Whether a counted row is a pass by the rule.
bool passed(const log::End& end, Rule rule) noexcept;

}  // namespace nkigrid::aggregate
