#pragma once

#include <memory>

#include "runner/device/backend.hpp"
#include "runner/device/sim/fork_servers.hpp"

namespace nkigrid::device {

/// The CPU simulator. @throws Error{config} for a target that is not simulated; Error{external} when its servers do not
/// get ready
std::unique_ptr<Backend> make_sim_backend(const jobs::NkiOptions& options, std::shared_ptr<ForkServers> servers);

}  // namespace nkigrid::device
