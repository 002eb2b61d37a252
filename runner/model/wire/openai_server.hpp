#pragma once

#include <string>
#include <string_view>

#include "runner/model/chat.hpp"

/// The other side of wire/openai.hpp, for `serve`: the same format, and the client's code knows nothing of it.
namespace nkigrid::model {

struct ServedRequest {
  std::string model;
  ChatRequest request;
};

/// @throws Error{usage} saying what is wrong with the body
ServedRequest parse_chat_request(std::string_view body);
std::string chat_response_body(const ChatReply& reply, std::string_view model, std::string_view id);
std::string error_body(std::string_view message, std::string_view type, std::string_view code);

}  // namespace nkigrid::model
