#pragma once

#include "cli/row_writer.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {

/// One row an episode of the plan, outstanding ones too: the denominator is the plan's.
void export_episodes(RowWriter& rows, const jobs::Run& run, const log::Ledger& ledger);

/// One row an attempt of a planned episode that ended, in the order of the log's files.
void export_attempts(RowWriter& rows, const jobs::Run& run, const log::Ledger& ledger);

/// One row a turn of every attempt of a planned episode, in the order of the log's files.
/// @param texts with request, reply, kernel and tool output
void export_turns(RowWriter& rows, const jobs::Run& run, const log::Ledger& ledger, bool texts);

}  // namespace nkigrid::cli
