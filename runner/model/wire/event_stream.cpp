#include "runner/model/wire/event_stream.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/model/json_text.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

void append_text(Json& whole, const Json& delta, const char* key) {
  const auto piece = delta.find(key);
  if (piece == delta.end() || !piece->is_string()) return;
  // In place: a server may send a reply byte by byte.
  Json& text = whole[key];
  if (!text.is_string()) text = "";
  text.get_ref<std::string&>() += piece->get_ref<const std::string&>();
}

/// A call grows by its index: the first piece names it, the others add to its arguments.
void append_call(Json& calls, const Json& piece) {
  if (!piece.is_object()) return;
  const std::size_t last = calls.empty() ? 0 : calls.size() - 1;
  const Json number = piece.value("index", Json());
  const std::size_t index = number.is_number_unsigned() ? number.get<std::size_t>() : last;
  if (index > 256) return;
  while (calls.size() <= index) calls.push_back({{"function", {{"name", ""}, {"arguments", ""}}}});
  Json& call = calls[index];
  if (piece.contains("id") && piece["id"].is_string()) call["id"] = piece["id"];
  const Json function = piece.value("function", Json());
  if (!function.is_object()) return;
  append_text(call["function"], function, "name");
  if (function.contains("arguments") && function["arguments"].is_object())
    call["function"]["arguments"] = function["arguments"];
  append_text(call["function"], function, "arguments");
}

void append_delta(Json& message, const Json& delta) {
  if (!delta.is_object()) return;
  for (const char* key : {"content", "reasoning_content", "reasoning", "refusal"}) append_text(message, delta, key);
  if (!delta.contains("tool_calls") || !delta["tool_calls"].is_array()) return;
  if (!message.contains("tool_calls")) message["tool_calls"] = Json::array();
  for (const Json& piece : delta["tool_calls"]) append_call(message["tool_calls"], piece);
}

}  // namespace

std::vector<std::string_view> events_of(std::string_view body) {
  std::vector<std::string_view> events;
  for (std::size_t begin = 0; begin < body.size();) {
    const std::size_t end = std::min(body.find('\n', begin), body.size());
    std::string_view line = body.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("data:")) {
      line.remove_prefix(5);
      if (line.starts_with(' ')) line.remove_prefix(1);
      events.push_back(line);
    }
    begin = end + 1;
  }
  return events;
}

bool is_event_stream(std::string_view body) {
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  body.remove_prefix(first);
  return body.starts_with("data:") || body.starts_with("event:") || body.starts_with(":");
}

ErrorBody stream_error(std::string_view body) {
  for (const std::string_view event : events_of(body)) {
    if (auto error = read_error(event); error.present) return error;
  }
  return {};
}

Json joined_chunks(std::string_view body) {
  Json whole = Json::object();
  Json message = {{"role", "assistant"}};
  Json finish;
  bool done = false;
  for (const std::string_view event : events_of(body)) {
    done = done || event == "[DONE]";
    const Json chunk = parse_json(event);
    if (!chunk.is_object()) continue;
    for (const char* key : {"usage", "system_fingerprint"}) {
      if (chunk.contains(key) && !chunk[key].is_null()) whole[key] = chunk[key];
    }
    const Json choices = chunk.value("choices", Json());
    if (!choices.is_array() || choices.empty() || !choices[0].is_object()) continue;
    append_delta(message, choices[0].value("delta", Json()));
    if (choices[0].contains("finish_reason") && choices[0]["finish_reason"].is_string())
      finish = choices[0]["finish_reason"];
  }
  if (!done && finish.is_null()) throw Error(ErrorCode::corrupt, "the stream ended in the middle of a reply");
  whole["choices"] = Json::array({{{"message", message}, {"finish_reason", finish}}});
  return whole;
}

}  // namespace nkigrid::model
