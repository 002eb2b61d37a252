#include "cli/python_tool.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "jobs/base/error.hpp"
#include "runner/device/make_device.hpp"
#include "runner/proc/child.hpp"

namespace nkigrid::cli {
namespace {

/// The home is for matplotlib's cache of fonts: without one it makes it each time. Where libraries lie is for nkigrid,
/// which the report starts again.
std::vector<std::string> tool_environment(const TemporaryDirectory& scratch) {
  std::vector<std::string> environment = {"PYTHONHASHSEED=0", "PATH=/usr/bin:/bin",
                                          "TMPDIR=" + scratch.path().native()};
  for (const char* name : {"HOME", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) environment.push_back(fmt::format("{}={}", name, value));
  }
  return environment;
}

}  // namespace

std::string run_python_tool(const std::string& script, const std::vector<std::string>& arguments, Seconds timeout,
                            const TemporaryDirectory& scratch) {
  std::vector<std::string> command = {NKIGRID_PYTHON, "-B", device::default_device_paths().libexec / script};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto result =
      proc::run_command(command, timeout, tool_environment(scratch), std::size_t{1} << 20, scratch.path());
  const auto* exited = std::get_if<proc::Exited>(&result.end);
  if (exited != nullptr && exited->status == 0) return result.out;
  if (exited != nullptr && exited->status == static_cast<int>(ExitCode::damaged))
    throw Error(ErrorCode::io, result.err.substr(0, result.err.find_last_not_of('\n') + 1));
  const bool absent = result.err.find("No module named 'matplotlib'") != std::string::npos;
  throw Error(ErrorCode::external,
              absent ? "figures are drawn with matplotlib, which is not here; `apt-get install python3-matplotlib`"
                     : fmt::format("{} {}: {}", script, proc::describe(result.end), result.err));
}

}  // namespace nkigrid::cli
