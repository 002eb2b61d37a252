#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "jobs/base/clock.hpp"

namespace nkigrid::model {

/// Response headers; names in lower case.
using Headers = std::map<std::string, std::string>;

/// How long the server asks us to wait: `retry-after-ms`, else `retry-after` (seconds, or a date that is read against
/// the reply's own `date` header and not the local clock), else the largest reset window (`*ratelimit*reset*`: "1m30s",
/// "250ms", seconds, or an RFC 3339 time against `date`).
/// @returns nothing when the server says nothing that can be read; never a negative time
/// @source RFC 9110 sections 5.6.7 and 10.2.3
std::optional<Seconds> server_wait(const Headers& headers);

/// "1h2m3.5s", "250ms", "7" (seconds). @returns nothing when it is none of these.
std::optional<Seconds> parse_span(std::string_view text);

/// Unix seconds of an HTTP date ("Wed, 21 Oct 2026 07:28:00 GMT") or an RFC 3339 time in UTC.
std::optional<double> parse_instant(const std::string& text);

}  // namespace nkigrid::model
