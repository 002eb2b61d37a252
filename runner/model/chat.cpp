#include "runner/model/chat.hpp"

#include <utility>

#include <fmt/format.h>

namespace nkigrid::model {

std::string made_call_id(std::size_t n) { return fmt::format("call{:05}", n % 100000); }

ChatError::ChatError(ChatFailure kind, std::string message)
    : Error(ErrorCode::external, std::move(message)), failure(kind) {}

}  // namespace nkigrid::model
