#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runner/model/chat.hpp"
#include "runner/model/retry_after.hpp"

namespace nkigrid::model {

/// The sampling parameters of a request: what the grid states and nothing else.
struct OpenAiParameters {
  std::string model;
  std::optional<double> temperature, top_p;
  std::optional<std::uint32_t> max_tokens;
};

/// Body of POST /chat/completions. Arguments of past calls that are no JSON object are sent as `{"_invalid":
/// "<text>"}`, because some servers parse the history and would answer 400 for ever.
std::string chat_request_body(const ChatRequest& request, const OpenAiParameters& parameters);

/// A reply from the body of a 200. Content may be null, text or parts; arguments text or an object; the finish reason
/// is taken as refused when there is a refusal. Lone surrogates become U+FFFD and are counted.
/// @throws Error{corrupt} when the body is cut, no JSON, or holds no choice
ChatReply parse_chat_response(std::string_view body);

/// What an answer that is no reply asks for.
enum class WireFault {
  retry,         ///< 408, 409, 425, 429, 5xx, an error inside a 200, a body that is cut
  retry_once,    ///< 400 that blames a cut upload
  context_full,  ///< the conversation is too long
  refused,       ///< a content filter answered with an error
  fatal          ///< authentication, quota, not found, a bad request of ours
};

struct WireVerdict {
  WireFault fault = WireFault::retry;
  std::string message;                 ///< the server's words, bounded, or the HTTP status
  std::optional<Seconds> server_wait;  ///< how long the server asks us to wait
};

/// Reads both error envelopes (`error.message` and a top-level `message`).
/// @param longest_wait a wait beyond it is quota, not load
WireVerdict classify_error(long status, const Headers& headers, std::string_view body, Seconds longest_wait);

/// The error message in a body of either envelope; nothing when it holds none.
std::optional<std::string> error_message(std::string_view body);

// The server's side, for `serve`.

struct ServedRequest {
  std::string model;
  ChatRequest request;
};

/// @throws Error{usage} saying what is wrong with the body
ServedRequest parse_chat_request(std::string_view body);
std::string chat_response_body(const ChatReply& reply, std::string_view model, std::string_view id);
std::string error_body(std::string_view message, std::string_view type, std::string_view code);

}  // namespace nkigrid::model
