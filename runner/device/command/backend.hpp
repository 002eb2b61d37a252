#pragma once

#include <memory>

#include "runner/device/backend.hpp"

namespace nkigrid::device {

/// The backend over a site's own compile and verify programs (docs/formats/command_protocol.md). What a program says of
/// a kernel is believed; whether the kernel is right is not its to say. A program that breaks the protocol is the
/// machinery's fault, one that dies or hangs is doubted: the canary decides.
/// @throws Error{config} when the keeper nkigrid_confine is not there, or the spec names no programs
std::unique_ptr<Backend> make_backend(const jobs::CommandSpec& spec, const BackendSetup& setup,
                                      std::shared_ptr<BackendServers> none = {});

}  // namespace nkigrid::device
