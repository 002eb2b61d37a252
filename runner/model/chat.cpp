#include "runner/model/chat.hpp"

#include <utility>

namespace nkigrid::model {

ChatError::ChatError(ChatFailure kind, std::string message)
    : Error(ErrorCode::external, std::move(message)), failure(kind) {}

}  // namespace nkigrid::model
