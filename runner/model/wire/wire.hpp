#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jobs/grid/grid.hpp"
#include "runner/model/chat.hpp"
#include "runner/model/http.hpp"
#include "runner/model/key.hpp"
#include "runner/model/wire/dialect.hpp"

/// What a provider's HTTP interface looks like, apart from how it is asked (client.hpp): pure functions, a file a wire.
namespace nkigrid::model {

/// What an answer that is no reply asks for.
enum class WireFault {
  retry,         ///< may pass: load, a server's fault, a body that is cut
  retry_once,    ///< a request that arrived cut
  context_full,  ///< the conversation is too long
  refused,       ///< a content filter answered with an error
  spoken,        ///< the model did answer: the server could make no call of its words, and quotes them
  adapt,         ///< the server speaks another dialect: the same request in it
  fatal          ///< authentication, quota, not found, a bad request of ours
};

struct WireVerdict {
  WireFault fault = WireFault::retry;
  std::string message;                 ///< the server's words, bounded, with the HTTP status
  std::optional<Seconds> server_wait;  ///< how long the server asks us to wait
  Dialect dialect;                     ///< fault adapt: what the server wants
  std::string words;                   ///< faults refused and spoken: what stands for the reply's text, whole
};

struct Wire {
  /// The request that continues a conversation, whole but for what proves who asks. Sends the sampling parameters that
  /// the grid states and no others. Of an earlier reply of the same wire, Message::opaque goes back as it came.
  HttpRequest (*request)(const ChatRequest& chat, const jobs::ModelSpec& model, const Dialect& dialect);

  /// Adds to a finished request what proves who asks: a key in a header, or a signature over all of it. Called anew for
  /// every try, so that a signature's time is the try's.
  /// @param key from read_keys_of()
  /// @param now [Unix seconds]
  void (*sign)(HttpRequest& request, const jobs::ModelSpec& model, const ApiKey& key, double now);

  /// The reply in the body of a 200; nothing when the body is an error's, for verdict() to tell.
  /// @throws Error{corrupt} when it is neither: cut, or no such thing at all
  std::optional<ChatReply> (*reply)(std::string_view body);

  /// What an answer that is no reply asks for.
  WireVerdict (*verdict)(const HttpAnswer& answer);
};

// The table: the wire of each api that has an endpoint (wire/<name>.cpp). An api without one does not compile.
Wire wire_of(const jobs::OpenAi& api);
Wire wire_of(const jobs::Anthropic& api);
Wire wire_of(const jobs::Bedrock& api);

/// The body of a request as it goes over the wire, before any dialect was learnt. @pre a model with an endpoint
std::string request_body(const ChatRequest& chat, const jobs::ModelSpec& model);

/// What today's reader makes of a logged response's bytes; nothing when it takes them for an error's, or when the
/// model's api has no wire. @throws Error{corrupt} when they are no response of that api
std::optional<ChatReply> read_again(std::string_view raw, const jobs::ModelSpec& model);

/// `path` ("/chat/completions") below a base URL, whether that ends in slashes or not.
std::string url_below(std::string_view endpoint, std::string_view path);

}  // namespace nkigrid::model
