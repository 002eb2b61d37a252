#pragma once

namespace nkigrid {

/// The program's version and, built in a git checkout, the commit: "0.1.0+1a2b3c4d5e6f"; "-dirty" follows where files
/// differ from it. Frozen into runs; journals and segments have build_name.hpp's. Defined by the build
/// (cmake/version.cmake).
extern const char* const kVersion;

}  // namespace nkigrid
