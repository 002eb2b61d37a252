#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

bool JobState::active() const noexcept { return works() || state == "COMPLETING"; }

bool JobState::works() const noexcept { return state == "PENDING" || state == "RUNNING" || state == "SUSPENDED"; }

}  // namespace nkigrid::slurm
