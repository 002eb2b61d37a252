#pragma once

#include <cstdint>
#include <string>

#include "jobs/base/error.hpp"

namespace nkigrid::cli {

struct Import {
  std::string tree, format, out;
  std::uint64_t max_task_bytes = 0;  ///< 0: the default
  bool shrink = false, json = false;
};

/// `bench import`: writes a benchmark of whatever format as a folder of our own, and says what was posed and what not.
ExitCode import_tree(const Import& wanted);

}  // namespace nkigrid::cli
