#pragma once

#include <filesystem>

#include "jobs/run_directory.hpp"

namespace nkigrid::aggregate {

/// Folds the run's log and writes every table as .txt and .csv, and tables.json, into `folder` (made when
/// absent; each file replaced as a whole). Same plan, seed and verdicts: same bytes, but for the costs.
/// @throws Error{io, corrupt}
void write_tables(const jobs::Run& run, const std::filesystem::path& folder);

}  // namespace nkigrid::aggregate
