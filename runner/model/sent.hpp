#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nkigrid::model {

/// A request as it was sent, told by the one before it: a conversation is sent again with every turn, and the log keeps
/// each byte of it once.
struct Sent {
  std::size_t front = 0, back = 0;  ///< bytes at the beginning and the end that the request before had, too
  std::string text;                 ///< what stands between
};

/// What is new in a request. Cuts between characters.
Sent sent_after(std::string_view before, std::string_view request);

/// The request again. @throws Error{corrupt} when `before` is not the one that it was told by
std::string request_of(const Sent& sent, std::string_view before);

}  // namespace nkigrid::model
