#pragma once

#include "runner/log/folder.hpp"
#include "runner/log/run_log.hpp"

namespace nkigrid::log {

/// Holds a journal against its segments: what they say to hold of it is skipped by readers, so they must hold it.
/// Nothing to prove where one of both is not there.
/// @throws Error{io}, Error{corrupt}: records would be seen by nobody
void prove_nothing_hidden(const RunLog& log, const Stem& stem);

}  // namespace nkigrid::log
