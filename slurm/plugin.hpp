#pragma once

#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

/// What the plugin exports under the name kPluginEntry. The main program never links libslurm: its soname differs from
/// release to release, and nodes without Slurm must still run everything else.
using PluginEntry = Client* (*)();
inline constexpr const char* kPluginEntry = "nkigrid_slurm_client";
inline constexpr const char* kPluginFile = "nkigrid_slurm.so";

}  // namespace nkigrid::slurm
