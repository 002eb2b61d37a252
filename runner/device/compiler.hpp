#pragma once

#include <optional>
#include <string>

#include "runner/device/canary.hpp"
#include "runner/device/device.hpp"
#include "runner/device/fork_servers.hpp"

namespace nkigrid::device {

/// Compiles one kernel for the simulator: traces it in a child, then proves on the trusted side that what came back is a program,
/// obeys the law and fits the task. Success is that proof, never what the child claims. @threads safe
CompileResult compile_for_simulator(ForkServers& servers, const Canary& canary, const jobs::DeviceSpec& spec, const jobs::Task& task,
                                    const std::string& source, const std::optional<std::string>& entry, Seconds timeout);

/// Bytes of one tensor. @pre dtype is one of the kernel interface's
std::size_t bytes_of(const jobs::TensorSpec& tensor);

}  // namespace nkigrid::device
