#pragma once

#include <functional>

#include "cli/status_report.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::cli {

enum class FollowStyle {
  redraw,      ///< a terminal: the whole report, drawn over the last one
  lines,       ///< a pipe: a line whenever something changed, the whole report at the end
  json_lines,  ///< one JSON document a line, each look
  silent       ///< only the exit code
};

/// Looks every two seconds (up to ten where a look takes long) and shows what it sees on stdout, until nothing is
/// outstanding or nothing has worked on the run for ten seconds. @returns 0: nothing is outstanding; 1: the run is over
/// all the same; 130: SIGINT
ExitCode follow(FollowStyle style, const std::function<StatusReport()>& look);

}  // namespace nkigrid::cli
