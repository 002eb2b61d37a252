#pragma once

#include <string>

#include "runner/device/values.hpp"

namespace nkigrid::agent {

/// What a check found, as the log keeps it (docs/formats/segment.md, `findings`): at most 64 KiB of JSON.
/// @param verify null where the kernel did not compile
/// @returns "" where there is nothing to say
std::string findings_of(const device::Diagnostic& diagnostic, const device::VerifyResult* verify);

}  // namespace nkigrid::agent
