#pragma once

namespace nkigrid::cli {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace nkigrid::cli
