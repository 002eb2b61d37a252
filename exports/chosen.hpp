#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/plan.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::exports {

/// Which episodes of a run somebody wants. An empty list asks nothing; within a list one match is enough. `*` stands
/// for any run of characters, `?` for one.
struct Chosen {
  std::vector<std::string> cells, tasks, levels, categories;
  std::vector<std::string> outcomes;  ///< of the counted attempt, or "outstanding"
  std::vector<std::string> codes;     ///< of the final check, e.g. PARTITION_LIMIT, or an error group

  bool operator==(const Chosen&) const = default;
};

/// Every value that a list may name. @throws Error{usage} for one that no episode of the plan has, with near ones
void check_chosen(const jobs::Plan& plan, const Chosen& chosen);

/// Indices into plan.episodes, ascending.
std::vector<std::uint32_t> places_of(const jobs::Plan& plan, const log::Ledger& ledger, const Chosen& chosen);

/// True when the pattern matches all of the text.
bool matches(const std::string& pattern, const std::string& text);

}  // namespace nkigrid::exports
