#pragma once

#include <memory>

#include "jobs/grid/grid.hpp"
#include "runner/device/backends.hpp"
#include "runner/device/device.hpp"
#include "runner/device/draw_source.hpp"

namespace nkigrid::device {

/// The device that a grid describes: its backend, checked.
/// @param servers what start_servers() gave for this backend, at the very start of the program
/// @throws Error{config}, Error{external} that say what lacks; Error{external} when the canary kernel fails
std::unique_ptr<Device> make_device(const jobs::DeviceSpec& spec, const jobs::CheckSpec& check, const DrawSource& draws,
                                    std::shared_ptr<BackendServers> servers, const DevicePaths& paths);

}  // namespace nkigrid::device
