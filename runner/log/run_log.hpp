#pragma once

#include <filesystem>
#include <string>

#include "jobs/run_directory.hpp"

namespace nkigrid::log {

/// The log of one run: where it lies, and whose files count there. Whoever reads a log says both: a folder may hold
/// files of another run, and keys alone would let them in.
struct RunLog {
  std::filesystem::path folder;  ///< RUN/log
  std::string run_id;
};

inline RunLog log_of(const jobs::Run& run) { return {run.log_folder(), run.run_id}; }

}  // namespace nkigrid::log
