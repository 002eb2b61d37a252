#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

/// Fields of a reply as servers write them: missing, null, or of another type than they should be.
namespace nkigrid::model {

/// The text of a field; "" when it is none.
std::string text_or_empty(const nlohmann::json& object, const char* key);
/// A count that may be a float or a string of digits; 0 when it is none.
std::uint32_t count_or_zero(const nlohmann::json& object, const char* key);

}  // namespace nkigrid::model
