#pragma once

#include <filesystem>
#include <string>

#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/run_log.hpp"

namespace nkigrid::cli {

/// The log of a run, for verbs that touch nothing else: they work on a run whose inputs are damaged. Warns of one that
/// is read without a key.
/// @throws Error{config} where there is no run, Error{corrupt} where it does not tell its id
log::RunLog log_of_run(const std::string& run);

/// Says on standard error what is known against a run's log: damage, files that do not count, that no key proves it.
void warn_of_log(const jobs::Run& run, const log::Ledger& ledger);

/// "12 files (340 MB) of 'RUN/log'", for those who wait while they are read.
std::string size_text(const std::filesystem::path& folder);

}  // namespace nkigrid::cli
