#pragma once

#include "jobs/grid/modes.hpp"
#include "runner/device/device.hpp"

// What a model is told of a result: all of it, or less where the mode's diagnostics are plain. The log keeps all.
namespace nkigrid::agent {

/// Without the lines that explain a message: `rule:` and `fix:`, and what is indented below them.
device::CompileResult told(device::CompileResult result, jobs::Diagnostics diagnostics);

/// Likewise, and without hints.
device::VerifyResult told(device::VerifyResult result, jobs::Diagnostics diagnostics);

}  // namespace nkigrid::agent
