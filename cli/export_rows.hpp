#pragma once

#include <cstdint>
#include <span>

#include "cli/row_writer.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {

// Rows of the episodes at some places of the plan, which ascend.

/// One row an episode, outstanding ones too: the denominator is the plan's.
void export_episodes(RowWriter& rows, const jobs::Run& run, const log::Ledger& ledger,
                     std::span<const std::uint32_t> places);

/// One row an attempt that ended, in the order of the log's files.
void export_attempts(RowWriter& rows, const jobs::Run& run, const log::Ledger& ledger,
                     std::span<const std::uint32_t> places);

/// One row a turn of every attempt, in the order of the log's files.
/// @param texts with request, reply, kernel and tool output
void export_turns(RowWriter& rows, const jobs::Run& run, const log::Ledger& ledger,
                  std::span<const std::uint32_t> places, bool texts);

}  // namespace nkigrid::cli
