#include "runner/model/wire/event_stream.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/wire/fields.hpp"

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

/// The call that a piece belongs to: that of its index, or the newest; a new id begins another. Looked for among the
/// newest alone, as many as a server may send by turns: how many there are, a server decides.
Json& call_of(Json& calls, const Json& piece, const std::string& id) {
  const Json index = piece.value("index", Json());
  const auto same = [&](const Json& call) {
    return (index.is_null() || call["index"] == index) && (id.empty() || call["id"] == "" || call["id"] == id);
  };
  constexpr std::size_t kByTurns = 64;
  const auto oldest = calls.rbegin() + static_cast<std::ptrdiff_t>(std::min(calls.size(), kByTurns));
  if (const auto found = std::find_if(calls.rbegin(), oldest, same); found != oldest) return *found;
  calls.push_back({{"index", index}, {"id", ""}, {"function", {{"name", ""}, {"arguments", ""}}}});
  return calls.back();
}

/// The first piece of a call names it, the others add to its arguments; some say the name in each.
void append_function(Json& call, const Json& function) {
  if (!function.is_object()) return;
  if (!call.is_object()) call = Json::object();
  if (function.value("name", Json()) != call.value("name", Json(""))) append_text(call, function, "name");
  if (function.contains("arguments") && function["arguments"].is_object()) call["arguments"] = function["arguments"];
  append_text(call, function, "arguments");
}

void append_call(Json& calls, const Json& piece) {
  if (!piece.is_object()) return;
  const std::string id = text_or_empty(piece, "id");
  Json& call = call_of(calls, piece, id);
  if (!id.empty()) call["id"] = id;
  append_function(call["function"], piece.value("function", Json()));
}

/// Text, or parts of which some are thoughts.
void append_content(Json& message, const Json& delta) {
  append_text(message, delta, "content");
  const auto parts = delta.find("content");
  if (parts == delta.end() || !parts->is_array()) return;
  Json& content = message["content"];
  if (!content.is_array()) content = content.is_string() ? Json::array({content}) : Json::array();
  content.insert(content.end(), parts->begin(), parts->end());
}

void append_delta(Json& message, const Json& delta) {
  append_content(message, delta);
  for (const char* key : {"reasoning_content", "reasoning", "thinking", "refusal"}) append_text(message, delta, key);
  if (delta.contains("function_call")) append_function(message["function_call"], delta["function_call"]);
  if (!delta.contains("tool_calls") || !delta["tool_calls"].is_array()) return;
  if (!message.contains("tool_calls")) message["tool_calls"] = Json::array();
  for (const Json& piece : delta["tool_calls"]) append_call(message["tool_calls"], piece);
}

/// Puts one choice of a chunk where the whole grows; some servers send the whole message in the last.
void append_choice(Json& message, Json& finish, const Json& choice) {
  if (const Json delta = choice.value("delta", Json()); delta.is_object()) {
    append_delta(message, delta);
  } else if (const Json whole = choice.value("message", Json()); whole.is_object()) {
    message = whole;
  }
  const Json word = choice.value("finish_reason", Json());
  if (word.is_string() || word.is_object()) finish = word;
}

/// @returns whether the chunk held a piece of the reply
bool append_chunk(Json& whole, Json& message, Json& finish, const Json& chunk) {
  if (!chunk.is_object()) return false;
  for (const char* key : {"usage", "x_groq", "system_fingerprint"}) {
    if (chunk.contains(key) && !chunk[key].is_null()) whole[key] = chunk[key];
  }
  const Json choices = chunk.value("choices", Json());
  if (!choices.is_array() || choices.empty() || !choices[0].is_object()) return false;
  const Json& choice = choices[0];
  if (choice.value("usage", Json()).is_object()) whole["usage"] = choice["usage"];
  if (choice.value("index", Json(0)) != 0) return false;  // of several replies the first
  append_choice(message, finish, choice);
  return true;
}

/// Lines of events that may be one object together, written over several. Its end is looked for where a line may be
/// one; all looks at a body read no more than kMostRead, whatever a server cuts its lines into.
class OpenObject {
 public:
  /// @returns the object that this line ends, or a discarded value
  Json add(std::string_view line) {
    constexpr std::size_t kMostLines = 64, kMostBytes = std::size_t{64} << 10, kMostRead = std::size_t{32} << 20;
    Json json(Json::value_t::discarded);
    if (line == "[DONE]" || lines_ >= kMostLines || text_.size() + line.size() > kMostBytes) return json;
    text_ += line;
    ++lines_;
    const auto last = line.find_last_not_of(" \t");
    if (last == std::string_view::npos || line[last] != '}' || read_ > kMostRead) return json;
    read_ += text_.size();
    return parse_json(text_);
  }
  void clear() {
    text_.clear();
    lines_ = 0;
  }

 private:
  std::string text_;
  std::size_t lines_ = 0, read_ = 0;
};

/// Looks at the objects that events hold, one after another until `look` returns false: one to a line as a rule, over
/// several lines where the events are written so. None is kept: how many there are, a server decides.
template <class Look>
void for_each_object(std::string_view body, Look look) {
  OpenObject open;
  for (const std::string_view line : events_of(body)) {
    Json json = parse_json(line);
    if (json.is_discarded()) json = open.add(line);
    if (json.is_discarded()) continue;
    open.clear();
    if (!look(json)) return;
  }
}

/// True where a line begins like that.
bool has_line(std::string_view body, std::string_view begin) {
  if (body.starts_with(begin)) return true;
  return body.find("\n" + std::string(begin)) != std::string_view::npos;
}

}  // namespace

std::vector<std::string_view> events_of(std::string_view body) {
  std::vector<std::string_view> events;
  for (std::size_t begin = 0; begin < body.size();) {
    const std::size_t end = std::min(body.find_first_of("\r\n", begin), body.size());
    std::string_view line = body.substr(begin, end - begin);
    if (line.starts_with("data:")) {
      line.remove_prefix(5);
      if (line.starts_with(' ')) line.remove_prefix(1);
      events.push_back(line);
    }
    begin = end + 1;
  }
  return events;
}

std::string_view without_comments(std::string_view body) {
  std::string_view rest = body;
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    if (!rest.starts_with(':')) break;
    rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  }
  return rest.empty() ? body : rest;
}

bool is_event_stream(std::string_view body) {
  constexpr std::array<std::string_view, 5> kFields = {"data:", "event:", "id:", "retry:", ":"};
  body = without_comments(body);
  return std::any_of(kFields.begin(), kFields.end(), [&](auto field) { return body.starts_with(field); });
}

ErrorBody stream_error(std::string_view body) {
  ErrorBody error;
  for_each_object(body, [&](const Json& object) {
    error = error_in(object);
    return !error.present;
  });
  if (error.present) return error;
  if (!has_line(body, "event: error") && !has_line(body, "event:error")) return {};
  return {.present = true, .message = "the stream ended in an error"};
}

Json joined_chunks(std::string_view body) {
  Json whole = Json::object();
  Json message = {{"role", "assistant"}};
  Json finish;
  bool spoke = false;
  for_each_object(body, [&](const Json& chunk) {
    spoke = append_chunk(whole, message, finish, chunk) || spoke;
    return true;
  });
  const auto lines = events_of(body);
  const bool done = std::find(lines.begin(), lines.end(), "[DONE]") != lines.end();
  if (!spoke || (!done && finish.is_null()))
    throw Error(ErrorCode::corrupt, "the stream ended in the middle of a reply");
  whole["choices"] = Json::array({{{"message", message}, {"finish_reason", finish}}});
  return whole;
}

}  // namespace nkigrid::model
