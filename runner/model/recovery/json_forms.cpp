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
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kMarks = {{
    {"hermes", "<tool_call>"},
    {"mistral", "[TOOL_CALLS]"},
    {"llama", "<|python_tag|>"},
    {"deepseek", "<｜tool▁call▁begin｜>"},
    {"kimi", "<|tool_call_begin|>"},
    {"harmony", "<|channel|>commentary"},
}};
/// Longest text between a mark and its JSON: a name, and marks of less interest.
constexpr std::size_t kLongestHeader = 200;
/// Objects that never end are looked for to the end of the text, each time: marks by the thousand would take for ever.
constexpr std::size_t kMostUnclosed = 16;

/// The end of the object that begins at `open`; kNone when it does not end.
std::size_t object_end(std::string_view text, std::size_t open) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return kNone;
}

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

/// A call from its JSON: one that names its tool, or arguments of the one tool that the header names.
std::optional<ToolCall> call_of(std::string_view header, const Json& json, const std::vector<ToolSpec>& tools) {
  if (!json.is_object()) return std::nullopt;
  const auto name = json.find("name");
  if (name != json.end() && name->is_string() && find_tool(tools, name->get<std::string>()) != nullptr) {
    for (const char* key : {"arguments", "parameters"}) {
      if (json.contains(key)) return ToolCall{"", name->get<std::string>(), text_of(json[key])};
    }
    return ToolCall{"", name->get<std::string>(), "{}"};
  }
  const auto named = [&](const ToolSpec& tool) { return stands_in(header, tool.name); };
  if (std::count_if(tools.begin(), tools.end(), named) != 1) return std::nullopt;
  return ToolCall{"", std::find_if(tools.begin(), tools.end(), named)->name, json.dump()};
}

/// The calls that follow one mark: an object, or a list of them.
std::size_t read_objects(std::string_view text, std::size_t at, const std::vector<ToolSpec>& tools, TextCalls& found,
                         std::size_t& unclosed) {
  for (std::size_t open = text.substr(0, at + kLongestHeader + 1).find('{', at);
       open != kNone && open - at <= kLongestHeader;) {
    const std::size_t end = object_end(text, open);
    if (end == kNone) {
      ++unclosed;
      break;
    }
    if (auto call = call_of(text.substr(at, open - at), parsed(text.substr(open, end - open)), tools))
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
