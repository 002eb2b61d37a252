#pragma once

#include <string>

#include "jobs/grid/grid.hpp"
#include "jobs/grid/resolved.hpp"

namespace nkigrid::jobs {

/// The grid as YAML. With `resolved` the form of RUN/grid.yaml: tasks spelt out, paths relative to
/// RUN/inputs.
std::string to_yaml(const Grid& grid, const Resolved* resolved);

}  // namespace nkigrid::jobs
