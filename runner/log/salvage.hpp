#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/log/run_log.hpp"

namespace nkigrid::log {

/// What salvage() did with one file that could not stay as it was.
struct Salvaged {
  std::filesystem::path file;
  std::string what;   ///< what was wrong with it, and what was saved
  bool lost = false;  ///< not everything it held could be saved
};

/// Puts a log's folder right. What does not count is set aside (left_out.hpp), what has another's name gets its own,
/// and of what tells an attempt otherwise than the files before it the rest is kept. Of each file that cannot be read
/// what is whole is saved: a segment's rows go into a new one of the same name, or come anew from its journal; what is
/// neither journal nor segment is moved. Files of another version, and those of living writers, are not touched.
/// @throws Error{io}
std::vector<Salvaged> salvage(const RunLog& log);

}  // namespace nkigrid::log
