#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/model/wire/faults.hpp"

/// Replies as server-sent events: some servers stream unless told otherwise, or always.
namespace nkigrid::model {

bool is_event_stream(std::string_view body);

/// A body without the comments (": working") by which gateways keep a connection open before they answer.
std::string_view without_comments(std::string_view body);

/// The data lines, in order. @source WHATWG HTML, section 9.2: comments and other fields are passed over
std::vector<std::string_view> events_of(std::string_view body);

/// A whole chat completion, as one that was not streamed would be: content and arguments joined, the last usage and
/// finish reason. @throws Error{corrupt} when it is cut: neither a finish reason nor [DONE]
nlohmann::json joined_chunks(std::string_view body);

/// The error that broke a stream off; not present when none did.
ErrorBody stream_error(std::string_view body);

}  // namespace nkigrid::model
