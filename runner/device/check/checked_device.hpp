#pragma once

#include <cstdint>
#include <memory>

#include "jobs/grid/grid.hpp"
#include "runner/device/backend.hpp"
#include "runner/device/device.hpp"
#include "runner/device/paths.hpp"

namespace nkigrid::device {

/// The device over a backend: the backend compiles and executes, everything else is the same for all of them.
/// @param run_seed the grid's seed; keys the draws of inputs and weights
/// @throws Error{external} when the canary kernel fails
std::unique_ptr<Device> make_checked_device(std::unique_ptr<Backend> backend, const jobs::CheckSpec& check,
                                            std::uint64_t run_seed, const DevicePaths& paths);

}  // namespace nkigrid::device
