#pragma once

#include <string>
#include <string_view>

#include "runner/device/backend.hpp"

namespace nkigrid::device {

/// "NRT_TIMEOUT" for 5; "status 77" for one that nrt_status.h does not name. @source the runtime's public header
/// nrt_status.h
std::string nrt_name(int status);

/// What a failed call of the runtime means for a check (kernel interface, "From events to one outcome").
///
/// What the kernel did to a device that works is a report: NaN seen (1003), an indirect access out of bounds (1006). A
/// time-out (5) is a late end. What may be the kernel's or the device's doing (1004, 1005, 4, 6, 101, 12xx, a NEFF that
/// does not load) is a crash: tried once more, then the canary decides. What no kernel can cause (no core, another
/// runtime, not initialised) is the machinery's.
/// @param call of the runtime, e.g. "nrt_execute"
RunOutcome outcome_of_nrt(std::string_view call, int status);

}  // namespace nkigrid::device
