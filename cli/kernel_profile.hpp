#pragma once

#include "runner/device/sim/kernel_profile.hpp"

namespace nkigrid::cli {

/// What `kernel --profile` says of where a kernel's estimated time goes.
void print_profile(const device::KernelProfile& profile);

}  // namespace nkigrid::cli
