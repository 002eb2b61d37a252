#pragma once

#include <string>

namespace nkigrid::exports {

/// RFC 3339 in UTC with milliseconds, "2026-11-30T15:24:03.120Z"; "" for what is no time.
/// @param unix_s Unix time [s]
std::string utc_text(double unix_s);

}  // namespace nkigrid::exports
