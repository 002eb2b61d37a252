#pragma once

#include <cstdint>
#include <memory>

#include "runner/device/backend.hpp"

namespace nkigrid::device {

/// The two servers that fork the simulator's children. @param lanes that will compile at once; 0: not known yet
/// @throws Error{config} when this machine has no sandbox of the level that `check` asks for
std::shared_ptr<BackendServers> start_backend_servers(const jobs::SimSpec& spec, const jobs::CheckSpec& check,
                                                      const DevicePaths& paths, std::uint32_t lanes);

/// The CPU simulator. @param servers those started for it
/// @throws Error{config} for a target that is not simulated; Error{external} when its servers do not get ready
std::unique_ptr<Backend> make_backend(const jobs::SimSpec& spec, const BackendSetup& setup,
                                      std::shared_ptr<BackendServers> servers);

}  // namespace nkigrid::device
