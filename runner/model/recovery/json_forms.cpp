#include "runner/model/recovery/json_forms.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/model/json_text.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kNone = std::string_view::npos;

/// What stands before the JSON of a call. @source chat templates of the models' public repositories
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kMarks = {{
    {"hermes", "<tool_call>"},
    {"hermes", "<tool_calls>"},
    {"mistral", "[TOOL_CALLS]"},
    {"llama", "<|python_tag|>"},
    {"llama", "<function="},
    {"deepseek", "<｜tool▁call▁begin｜>"},
    {"kimi", "<|tool_call_begin|>"},
    {"harmony", "to=functions."},
    {"granite", "<|tool_call|>"},
    {"nemotron", "<TOOLCALL>"},
    {"phi", "functools["},
    {"internlm", "<|plugin|>"},
    {"cohere", "<|START_ACTION|>"},
    {"functionary", "<functioncall>"},
}};
/// What stands behind a call of Hermes.
constexpr std::string_view kCallsEnd = "</tool_call";
/// Longest text between a mark and its JSON: a name, and marks of less interest.
constexpr std::size_t kLongestHeader = 200;
/// Objects that never end are looked for to the end of the text, each time: marks by the thousand would take for ever.
constexpr std::size_t kMostUnclosed = 16;

Json parsed(std::string_view text) {
  Json json = parse_json(mend_json(text).text);
  return json.is_discarded() ? parse_json(relaxed_json(mend_json(text).text)) : json;
}

bool stands_in(std::string_view header, std::string_view name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const std::size_t at = header.find(name);
  if (at == kNone) return false;
  const std::size_t end = at + name.size();
  return (at == 0 || !is_word(header[at - 1])) && (end == header.size() || !is_word(header[end]));
}

std::string text_of(const Json& arguments) {
  return arguments.is_string() ? arguments.get<std::string>() : arguments.dump();
}

/// The name in a call's JSON, where it is one of the tools'.
std::string name_in(const Json& json, const std::vector<ToolSpec>& tools) {
  for (const char* key : {"name", "tool_name", "function"}) {
    const auto name = json.find(key);
    if (name != json.end() && name->is_string() && find_tool(tools, name->get<std::string>()) != nullptr)
      return name->get<std::string>();
  }
  return "";
}

/// A call from its JSON: one that names its tool, or arguments of the one tool that the header names.
std::optional<ToolCall> call_in(std::string_view header, const Json& json, const std::vector<ToolSpec>& tools) {
  if (!json.is_object()) return std::nullopt;
  if (json.contains("function") && json["function"].is_object()) return call_in(header, json["function"], tools);
  if (const std::string name = name_in(json, tools); !name.empty()) {
    for (const char* key : {"arguments", "parameters"}) {
      if (json.contains(key)) return ToolCall{"", name, text_of(json[key])};
    }
    return ToolCall{"", name, "{}"};
  }
  const auto named = [&](const ToolSpec& tool) { return stands_in(header, tool.name); };
  if (std::count_if(tools.begin(), tools.end(), named) != 1) return std::nullopt;
  return ToolCall{"", std::find_if(tools.begin(), tools.end(), named)->name, json.dump()};
}

/// A call whose closing braces alone are missing before its closing tag.
std::optional<ToolCall> unclosed_call(std::string_view text, std::size_t at, std::size_t open,
                                      const std::vector<ToolSpec>& tools) {
  const std::size_t tag = text.find(kCallsEnd, open);
  if (tag == kNone) return std::nullopt;
  auto body = text.substr(open, tag - open);
  body = body.substr(0, body.find_last_not_of(" \t\r\n") + 1);
  return call_in(text.substr(at, open - at), parsed(closed_object(body)), tools);
}

/// The calls that follow one mark: an object, or a list of them.
std::size_t read_objects(std::string_view text, std::size_t at, const std::vector<ToolSpec>& tools, TextCalls& found,
                         std::size_t& unclosed) {
  for (std::size_t open = text.substr(0, at + kLongestHeader + 1).find('{', at);
       open != kNone && open - at <= kLongestHeader;) {
    const std::size_t end = object_end(text, open);
    if (end == kNone) {
      ++unclosed;
      if (auto call = unclosed_call(text, at, open, tools)) found.calls.push_back(std::move(*call));
      break;
    }
    if (auto call = call_in(text.substr(at, open - at), parsed(text.substr(open, end - open)), tools))
      found.calls.push_back(std::move(*call));
    at = end;
    open = text.find_first_not_of(" \t\r\n,", end);
    if (open != kNone && text[open] != '{') break;
  }
  return at;
}

}  // namespace

TextCalls calls_in_json(std::string_view text, const std::vector<ToolSpec>& tools) {
  for (const auto& [form, mark] : kMarks) {
    TextCalls found{form, text.find(mark), {}};
    std::size_t unclosed = 0;
    for (std::size_t at = found.begin; at != kNone && unclosed < kMostUnclosed; at = text.find(mark, at))
      at = read_objects(text, at + mark.size(), tools, found, unclosed);
    if (!found.calls.empty()) return found;
  }
  return {};
}

}  // namespace nkigrid::model
