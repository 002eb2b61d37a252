#pragma once

#include <string>

namespace nkigrid {

/// The version and, behind it, the first eight digits of the build id that the linker gave the running program:
/// "0.1.0+1a2b3c4d5e6f-dirty.9df995b7". Two builds of changed files have one version, and never one build id.
/// The version alone where the linker gave none.
std::string build_name();

}  // namespace nkigrid
