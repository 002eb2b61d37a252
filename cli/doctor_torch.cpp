#include "cli/doctor_torch.hpp"

#include <variant>

#include <fmt/core.h>

#include "cli/first_line.hpp"
#include "jobs/finding.hpp"
#include "runner/proc/child.hpp"

namespace nkigrid::cli {

using jobs::lacks;

std::string look_at_torch(Seconds patience) {
  const auto result =
      proc::run_command({NKIGRID_PYTHON, "-I", "-c",
                         "import numpy, torch; print('torch', torch.__version__, 'numpy', numpy.__version__)"},
                        patience, {"PATH=/usr/bin:/bin"});
  if (std::holds_alternative<proc::TimedOut>(result.end))
    lacks(fmt::format("{} did not import torch and numpy within {} s; look again when the machine is less busy",
                      NKIGRID_PYTHON, patience.count()));
  if (!proc::is_success(result.end))
    lacks(fmt::format("{} cannot import torch and numpy; install python3-torch and python3-numpy", NKIGRID_PYTHON));
  return fmt::format("{}: {}", NKIGRID_PYTHON, first_line(result.out));
}

}  // namespace nkigrid::cli
