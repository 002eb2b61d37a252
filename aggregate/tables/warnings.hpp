#pragma once

#include <string>
#include <vector>

#include "aggregate/evidence/evidence.hpp"

namespace nkigrid::aggregate {

/// What a reader must know before believing any table; the same text for the same plan and verdicts.
/// Attempts, retries and superseded writers are never a reason to warn, and damage is counted without naming
/// files (the detail is the log's). Of counts: printed numbers that do not fit, and cells whose two task sets disagree.
std::vector<std::string> make_warnings(const Evidence& evidence);

}  // namespace nkigrid::aggregate
