#pragma once

namespace nkigrid {

/// Version of the program; frozen into runs and segments.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace nkigrid
