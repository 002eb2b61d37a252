#pragma once

#include <string>

namespace nkigrid {

/// The function `entry` of a part of this program that is loaded when it is first wanted: what a part stands on (MPI,
/// libcurl) would otherwise be loaded by every `status`, and must not be there where nobody asks for it. Looked for
/// beside the program, then in ../lib/nkigrid, then where the loader looks (a build's test programs).
/// @returns never null; to be cast to what the part's header says
/// @throws Error{external} when the part, or a library that it needs, is not there
/// @threads any
void* load_plugin(const std::string& file, const char* entry);

}  // namespace nkigrid
