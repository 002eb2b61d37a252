#pragma once

#include <string>
#include <vector>

#include "jobs/base/error.hpp"

namespace nkigrid::cli {

/// Whose first messages, or first request, are to be printed.
struct PromptRequest {
  std::string source;  ///< run folder or grid file
  std::string task;    ///< TASK, or CELL/TASK
  std::string cell;    ///< "": that of `task`, else the grid's first
  std::vector<std::string> sets;
  bool request = false;  ///< the body that would be sent, not the messages
  bool json = false;
};

/// Prints it to standard output. @throws Error{usage} with near names for a cell or task that is not there
ExitCode show_prompt(const PromptRequest& wanted);

}  // namespace nkigrid::cli
