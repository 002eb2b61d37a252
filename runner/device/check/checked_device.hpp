#pragma once

#include <memory>

#include "jobs/grid/grid.hpp"
#include "runner/device/backend.hpp"
#include "runner/device/device.hpp"
#include "runner/device/draw_source.hpp"
#include "runner/device/paths.hpp"

namespace nkigrid::device {

/// The device over a backend: the backend compiles and executes, everything else is the same for all of them.
/// @throws Error{external} when the canary kernel fails
std::unique_ptr<Device> make_checked_device(std::unique_ptr<Backend> backend, const jobs::CheckSpec& check,
                                            const DrawSource& draws, const DevicePaths& paths);

}  // namespace nkigrid::device
