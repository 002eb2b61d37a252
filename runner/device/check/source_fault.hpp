#pragma once

#include <optional>
#include <string>

#include "runner/device/values.hpp"

namespace nkigrid::device {

/// What can be said against a source without running any of it: over 64 KiB, NUL bytes, not UTF-8. Nothing when it may
/// be compiled.
std::optional<Diagnostic> source_fault(const std::string& source);

}  // namespace nkigrid::device
