#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/base/error.hpp"

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
};

enum class Finish { stop, length, tool_calls, refused };

struct Usage {
  std::uint32_t input = 0, output = 0, cached = 0;  ///< tokens
};

struct ChatReply {
  Message message;        ///< role assistant
  std::string reasoning;  ///< never code
  Finish finish = Finish::stop;
  Usage usage;
  std::string system_fingerprint;  ///< "nkigrid-synthetic" marks the synthetic model
  std::string raw;                 ///< response body as received; "" where there is no wire
  std::uint32_t mended = 0;        ///< characters that were no Unicode (lone surrogates) and became U+FFFD
  std::uint32_t api_retries = 0;
  double llm_s = 0;   ///< the successful request
  double wait_s = 0;  ///< retries' waits and permits
};

inline constexpr std::string_view kSyntheticFingerprint = "nkigrid-synthetic";

/// Why a model gave no reply. Carried by ChatError.
enum class ChatFailure {
  context_full,  ///< the conversation is too long: a model outcome
  transient,     ///< retries are used up: the episode ends api_error
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
