#include "runner/model/wire/request.hpp"

#include <cctype>

#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/json_writer.hpp"
#include "runner/model/wire/wire.hpp"

namespace nkigrid::model {

using Json = nlohmann::json;

namespace {

/// The body with the key that is written already, where the grid says no other value for it.
std::string with_written(const Json& body, const WrittenKey& written) {
  if (written.key.empty() || body.contains(written.key)) return body.dump();
  std::string text;
  text.reserve(written.json.size() + 4096);
  JsonObject json(text);
  bool placed = false;
  for (const auto& [key, value] : body.items()) {
    if (!placed && key > written.key) {
      json.raw(written.key, written.json);
      placed = true;
    }
    json.raw(key, value.dump());
  }
  if (!placed) json.raw(written.key, written.json);
  json.end();
  return text;
}

}  // namespace

HttpRequest post_json(const jobs::Remote& remote, std::string_view path, Json body, const WrittenKey& written) {
  if (!remote.body.empty()) body.update(Json::parse(remote.body));
  HttpRequest request{.url = url_below(remote.endpoint, path), .headers = {}, .body = with_written(body, written)};
  request.headers = {{"content-type", "application/json"}, {"accept", "application/json"}};
  for (const auto& header : remote.headers) {
    if (header.secret.kind == jobs::KeySource::Kind::none) request.headers.push_back({header.name, header.text});
  }
  return request;
}

Json sendable_arguments(const std::string& arguments) {
  const std::string text = to_valid_utf8(arguments);
  if (Json whole = parse_json(text); whole.is_object()) return whole;
  Json mended = mended_object(text);
  return mended.is_object() ? mended : Json{{"_invalid", text}};
}

std::string sendable_name(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  std::string sent = name.substr(0, kLongest);
  for (char& c : sent)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') c = '_';
  return sent.empty() ? "unknown" : sent;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos; }

std::string CallIds::of_call(const std::string& id) {
  std::string sent = to_valid_utf8(id);
  while (sent.empty() || !used_.insert(sent).second) sent = made_call_id(++made_);
  open_[id].push_back(sent);
  return sent;
}

std::string CallIds::of_answer(const std::string& id) {
  auto& calls = open_[id];
  if (calls.empty()) return to_valid_utf8(id);
  std::string sent = std::move(calls.front());
  calls.pop_front();
  return sent;
}

std::vector<Side> sides_of(const std::vector<Message>& messages) {
  std::vector<Side> sides;
  for (const Message& message : messages) {
    const bool assistant = message.role == Role::assistant;
    const bool empty = is_blank(message.content) && message.tool_calls.empty() && message.opaque.empty();
    if (message.role == Role::system || (assistant && empty)) continue;
    if (sides.empty() || sides.back().assistant != assistant) sides.push_back({assistant, {}});
    sides.back().messages.push_back(&message);
  }
  return sides;
}

std::string system_text(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& message : messages) {
    if (message.role != Role::system) continue;
    if (!text.empty()) text += "\n\n";
    text += to_valid_utf8(message.content);
  }
  return text;
}

}  // namespace nkigrid::model
