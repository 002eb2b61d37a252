#pragma once

#include "jobs/plan.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/run_log.hpp"

namespace nkigrid::log {

/// Adds to `spent_*` of a ledger what attempts have spent that have no end yet (drained, died): their own row says it
/// only once they are taken over. A reply that an attempt took over is its predecessor's.
/// @throws Error{io, corrupt} as read_log()
void add_unfinished_spend(const jobs::Plan& plan, const RunLog& log, Ledger& ledger);

}  // namespace nkigrid::log
