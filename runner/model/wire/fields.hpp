#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "runner/model/chat.hpp"

/// Fields of a reply as servers write them: missing, null, or of another type than they should be.
namespace nkigrid::model {

/// The text of a field; "" when it is none.
std::string text_or_empty(const nlohmann::json& object, const char* key);
/// A count that may be a float or a string of digits; 0 when it is none.
std::uint32_t count_or_zero(const nlohmann::json& object, const char* key);

/// What `read` makes of a body. @throws Error{corrupt} also where a field is of a type that nobody expects
std::optional<ChatReply> read_or_corrupt(std::string_view body, std::optional<ChatReply> (*read)(std::string_view));

}  // namespace nkigrid::model
