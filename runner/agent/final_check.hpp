#pragma once

#include "runner/agent/session.hpp"
#include "runner/log/records.hpp"

namespace nkigrid::agent {

/// The harness's own check behind the loop: outcome, verdicts and diagnostics of the final and the best kernel, into
/// `end`. @throws InfraStop
void final_check(Session& session, log::End& end);

}  // namespace nkigrid::agent
