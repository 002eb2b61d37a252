#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aggregate/tables/power_plan.hpp"

namespace nkigrid::cli {

/// A run whose variances shall be used, or nothing for an empty name. @throws as jobs::load_run() and
/// log::read_ledger()
std::optional<aggregate::ReadRun> read_pilot(const std::string& folder);

/// Prints which differences a grid can show, pair by pair, by which test, and says where more replicates cannot help.
void print_power(const std::vector<aggregate::PowerRow>& rows, const aggregate::PowerOptions& options);

/// The same as the text of a JSON object, for the key `power` of `plan --json`.
std::string power_as_json(const std::vector<aggregate::PowerRow>& rows, const aggregate::PowerOptions& options);

}  // namespace nkigrid::cli
