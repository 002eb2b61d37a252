#pragma once

#include <string>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::cli {

/// Runs a Python program of ours under libexec (figures/draw.py, report/build.py) to its end.
/// @param script below libexec @param scratch where it keeps what is temporary; goes with us when we are killed
/// @returns what it printed
/// @throws Error{io} with its last words where it ends with 3, as a verb does that cannot write; else Error{external},
///   with what to install where it lacks matplotlib
std::string run_python_tool(const std::string& script, const std::vector<std::string>& arguments, Seconds timeout,
                            const TemporaryDirectory& scratch);

}  // namespace nkigrid::cli
