#include "runner/model/wire/fields.hpp"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"

namespace nkigrid::model {

using Json = nlohmann::json;

std::string text_or_empty(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::uint32_t count_or_zero(const Json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto it = object.find(key);
  if (it == object.end()) return 0;
  const std::string text = it->is_string() ? it->get<std::string>() : "";
  double value = it->is_number() ? it->get<double>() : 0;
  if (!text.empty()) std::from_chars(text.data(), text.data() + text.size(), value);
  return value > 0 && value < 4294967295.0 ? static_cast<std::uint32_t>(value) : 0;
}

std::optional<ChatReply> read_or_corrupt(std::string_view body, std::optional<ChatReply> (*read)(std::string_view)) {
  try {
    return read(body);
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::corrupt, fmt::format("the response has not its api's form ({})", error.what()));
  }
}

}  // namespace nkigrid::model
