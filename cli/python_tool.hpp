#pragma once

#include <string>
#include <vector>

#include "jobs/base/clock.hpp"

namespace nkigrid::cli {

/// Runs a Python program of ours under libexec (figures/draw.py, report/build.py) to its end.
/// @param script below libexec @returns what it printed
/// @throws Error{io} with its last words where it ends with 3, as a verb does that cannot write; else Error{external},
///   with what to install where it lacks matplotlib
std::string run_python_tool(const std::string& script, const std::vector<std::string>& arguments, Seconds timeout);

}  // namespace nkigrid::cli
