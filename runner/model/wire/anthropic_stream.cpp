#include "runner/model/wire/anthropic_stream.hpp"

#include <map>

#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/wire/event_stream.hpp"
#include "runner/model/wire/fields.hpp"

/// @source platform.claude.com/docs/en/build-with-claude/streaming
namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

struct Joined {
  Json message = Json::object();
  std::map<std::size_t, Json> blocks;
  std::map<std::size_t, std::string> inputs;  ///< the JSON of a call, in pieces
  bool stopped = false;

  void add(const Json& event) {
    const std::string type = text_or_empty(event, "type");
    const std::size_t index = count_or_zero(event, "index");
    if (type == "message_start") message = event.value("message", Json::object());
    if (type == "content_block_start") blocks[index] = event.value("content_block", Json::object());
    if (type == "content_block_delta") add_delta(index, event.value("delta", Json::object()));
    if (type == "message_delta") {
      message.update(event.value("delta", Json::object()));
      const Json usage = event.value("usage", Json::object());
      if (usage.is_object()) message["usage"].update(usage);
    }
    stopped = stopped || type == "message_stop";
  }

  void add_delta(std::size_t index, const Json& delta) {
    Json& block = blocks[index];
    for (const char* key : {"text", "thinking", "signature"}) {
      const auto text = text_or_empty(delta, key);
      if (text.empty()) continue;
      Json& grown = block[key];  // in place: a reply may come byte by byte
      if (!grown.is_string()) grown = "";
      grown.get_ref<std::string&>() += text;
    }
    inputs[index] += text_or_empty(delta, "partial_json");
  }

  Json whole() {
    message["content"] = Json::array();
    for (auto& [index, block] : blocks) {
      if (text_or_empty(block, "type") == "tool_use" && !inputs[index].empty()) {
        Json input = parse_json(inputs[index]);
        block["input"] = input.is_discarded() ? Json(inputs[index]) : std::move(input);
      }
      message["content"].push_back(block);
    }
    return message;
  }
};

}  // namespace

Json joined_events(std::string_view body) {
  Joined joined;
  for (const std::string_view event : events_of(body)) {
    const Json json = parse_json(event);
    if (json.is_object()) joined.add(json);
  }
  if (!joined.stopped) throw Error(ErrorCode::corrupt, "the stream ended in the middle of a reply");
  return joined.whole();
}

}  // namespace nkigrid::model
