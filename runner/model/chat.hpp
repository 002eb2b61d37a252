#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/ids.hpp"
#include "runner/model/sent.hpp"

namespace nkigrid::model {

enum class Role { system, user, assistant, tool };

struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  ///< as received: a string that should hold JSON
};

/// An id for the nth call that has none: nine letters and digits, which is what the strictest servers take back.
std::string made_call_id(std::size_t n);

/// One message of a conversation, in no provider's form.
struct Message {
  Role role = Role::user;
  std::string content;
  std::vector<ToolCall> tool_calls;  ///< assistant only
  std::string tool_call_id;          ///< tool only: the call it answers
  bool is_error = false;             ///< tool only
  std::string opaque;  ///< assistant only: what its api wants back as it came (signed thoughts), in its wire's form,
                       ///< read by nobody else; "" for most
};

struct ToolSpec {
  std::string name, description;
  std::string parameters;  ///< JSON schema text
};

struct ChatRequest {
  std::vector<Message> messages;
  std::vector<ToolSpec> tools;        ///< empty: no tools are offered
  std::optional<std::uint32_t> seed;  ///< the episode's sampling seed
  EpisodeId episode = {};             ///< whose turn it is, for a model that answers from a log
  std::uint32_t turn = 0;             ///< from 1
};

enum class Finish { stop, length, tool_calls, refused };

struct Usage {
  std::uint32_t input = 0, output = 0;  ///< tokens; of the input, also what a cache held
  std::uint32_t cached = 0;             ///< of the input, read from a cache
  std::uint32_t cache_written = 0;      ///< of the input, written to a cache: some charge more for that
  bool estimated = false;               ///< the server did not count: upper estimates of the client
};

struct ChatReply {
  Message message;           ///< role assistant
  std::string reasoning;     ///< never code
  std::string thoughts_key;  ///< under which name `reasoning` goes back with calls, once some are found in the text; ""
  Finish finish = Finish::stop;
  Usage usage;
  std::string system_fingerprint;  ///< "nkigrid-synthetic" marks the synthetic model
  std::string request;             ///< its request's body; "" where there is no wire
  std::optional<Sent> sent;        ///< that, as the log keeps it
  std::string raw;                 ///< response body as received; "" where there is no wire
  std::string request_id;          ///< by which the provider knows the request; "" where it gave none
  std::string left_out;            ///< parameters of the grid that the server refuses and was not sent: "temperature"
  std::uint32_t trimmed = 0;       ///< messages behind the first two that were left out of its request (on_full: trim)
  std::uint32_t mended = 0;        ///< characters that were no Unicode (lone surrogates) and became U+FFFD
  std::uint32_t api_retries = 0;
  std::optional<double> recorded_cost;  ///< USD that it cost when it was bought: an answer out of a log
  double llm_s = 0;                     ///< the successful request
  double wait_s = 0;                    ///< retries' waits and permits
  double failing_s = 0;                 ///< of wait_s, what the endpoint cost: failed tries and the waits for it
};

inline constexpr std::string_view kSyntheticFingerprint = "nkigrid-synthetic";

/// Why a model gave no reply. Carried by ChatError.
enum class ChatFailure {
  context_full,  ///< the conversation is too long: a model outcome
  transient,     ///< retries are used up while the endpoint answers others: the episode ends api_error
  away,          ///< retries are used up and nobody is answered: the episode stays outstanding, its model stops
  fatal,         ///< authentication, quota, a bad request of ours: the run stops, exit 4; the episode stays outstanding
  interrupted    ///< the stop token fired while waiting
};

class ChatError : public Error {
 public:
  ChatError(ChatFailure failure, std::string message);
  ChatFailure failure;
  std::uint32_t api_retries = 0;
};

}  // namespace nkigrid::model
