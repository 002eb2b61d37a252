#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runner/device/backend.hpp"

namespace nkigrid::device {

// The table of backends. Whoever wants one asks here, and nowhere else is one told from another.

/// What this backend needs started first of all; null for most. @param lanes that will compile at once; 0: not known
/// yet
std::shared_ptr<BackendServers> start_servers(const jobs::BackendSpec& spec, const jobs::CheckSpec& check,
                                              const DevicePaths& paths, std::uint32_t lanes);

/// @param servers what start_servers() gave
/// @throws Error{config} or Error{external} that say what this machine or the grid lacks
std::unique_ptr<Backend> build_backend(const jobs::BackendSpec& spec, const BackendSetup& setup,
                                       std::shared_ptr<BackendServers> servers);

/// What a backend wants of the machine beside our own programs: the vendor's compiler, its devices.
struct MachineParts {
  std::string backend;
  std::function<std::string()> look;  ///< says what there is. @throws Error{external} with what lacks
};
/// One for each backend that wants any, the grid's own with its settings, the others with their defaults.
std::vector<MachineParts> machine_parts(const jobs::DeviceSpec& spec, const jobs::CheckSpec& check);

}  // namespace nkigrid::device
