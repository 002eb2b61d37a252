#pragma once

#include "runner/nkisim/estimate/kernel_profile.hpp"

namespace nkigrid::cli {

/// What `kernel --profile` says of where a kernel's estimated time goes.
void print_profile(const nkisim::KernelProfile& profile);

}  // namespace nkigrid::cli
