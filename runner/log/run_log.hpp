#pragma once

#include <filesystem>
#include <string>

#include "jobs/run_directory.hpp"
#include "runner/log/seal_key.hpp"

namespace nkigrid::log {

/// The log of one run: where it lies, and whose files count there. Whoever reads a log says both: a folder may hold
/// files of another run, and keys alone would let them in.
struct RunLog {
  std::filesystem::path folder;  ///< RUN/log
  std::string run_id;
  SealKey key = {};  ///< none: the log is read and written unproven
};

inline RunLog log_of(const jobs::Run& run) { return {run.log_folder(), run.run_id, SealKey(run.log_key)}; }

}  // namespace nkigrid::log
