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
/// "250ms", seconds, or a time against `date`: RFC 3339 or Unix).
/// @param limited whether the answer says that requests are too many: servers send reset windows with every answer, and
/// with any other one they are no wait
/// @returns nothing when the server says nothing that can be read; never a negative time
/// @source RFC 9110 sections 5.6.7 and 10.2.3; draft-ietf-httpapi-ratelimit-headers ("limit=9, reset=50", ";t=50")
std::optional<Seconds> server_wait(const Headers& headers, bool limited);

/// What an error's words ask for: "try again in 7.66s", "retry after 20 seconds", `"retryDelay": "36s"`. Nothing when
/// they do not.
std::optional<Seconds> wait_in_words(std::string_view body);

/// "1h2m3.5s", "1m 30s", "250ms", "7", "7 seconds". @returns nothing when it is none of these.
std::optional<Seconds> parse_span(std::string_view text);

/// Unix seconds of an HTTP date in each of its three forms ("Wed, 21 Oct 2026 07:28:00 GMT" and two older), an RFC 3339
/// time ("2026-10-21T07:28:00.25Z",
/// "...+02:00"), or a bare number too large to be a span: Unix time in seconds, or in thousandths and so on of them.
std::optional<double> parse_instant(const std::string& text);

}  // namespace nkigrid::model
