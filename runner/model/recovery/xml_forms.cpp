#include "runner/model/recovery/xml_forms.hpp"

#include <charconv>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;
constexpr std::string_view kFunction = "<function=", kFunctionEnd = "</function>";
constexpr std::string_view kParameter = "<parameter=", kParameterEnd = "</parameter>";
constexpr std::string_view kCall = "<tool_call>", kCallEnd = "</tool_call>";
constexpr std::string_view kKey = "<arg_key>", kKeyEnd = "</arg_key>";
constexpr std::string_view kValue = "<arg_value>", kValueEnd = "</arg_value>";

std::string_view without_outer_newlines(std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

Json value_of(const ToolSpec& tool, const std::string& key, std::string_view text) {
  const Json schema = Json::parse(tool.parameters, nullptr, false);
  const Json properties = schema.is_object() ? schema.value("properties", Json::object()) : Json::object();
  if (properties.value(key, Json::object()).value("type", "") == "integer") {
    long long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  return to_valid_utf8(text);
}

/// One call from its text between `<function=` and its end. A source may hold look-alikes of every tag, so a parameter
/// ends at the last `</parameter>` before the next parameter or the function's end.
std::optional<ToolCall> parse_call(std::string_view text, const std::vector<ToolSpec>& tools) {
  const std::size_t name_end = text.find('>');
  if (name_end == std::string_view::npos) return std::nullopt;
  ToolCall call;
  call.name = std::string(text.substr(0, name_end));
  const ToolSpec* tool = find_tool(tools, call.name);
  if (tool == nullptr) return std::nullopt;
  Json arguments = Json::object();
  std::size_t at = text.find(kParameter, name_end);
  while (at != std::string_view::npos) {
    const std::size_t key_end = text.find('>', at);
    if (key_end == std::string_view::npos) return std::nullopt;
    const std::string key = to_valid_utf8(text.substr(at + kParameter.size(), key_end - at - kParameter.size()));
    const std::size_t next = text.find(std::string("\n") + std::string(kParameter), key_end);
    const std::size_t end = text.rfind(kParameterEnd, next);
    if (end == std::string_view::npos || end < key_end) return std::nullopt;
    arguments[key] = value_of(*tool, key, without_outer_newlines(text.substr(key_end + 1, end - key_end - 1)));
    at = next == std::string_view::npos ? next : next + 1;
  }
  call.arguments = arguments.dump();
  return call;
}

/// One call from its text between `<tool_call>` and its end.
std::optional<ToolCall> parse_arg_tags(std::string_view text, const std::vector<ToolSpec>& tools) {
  std::size_t at = text.find(kKey);
  std::string_view name = text.substr(0, at);
  while (!name.empty() && std::string_view(" \t\r\n").find(name.back()) != std::string_view::npos)
    name.remove_suffix(1);
  while (!name.empty() && std::string_view(" \t\r\n").find(name.front()) != std::string_view::npos)
    name.remove_prefix(1);
  const ToolSpec* tool = find_tool(tools, name);
  if (tool == nullptr) return std::nullopt;
  Json arguments = Json::object();
  while (at != std::string_view::npos) {
    const std::size_t key_end = text.find(kKeyEnd, at);
    const std::size_t value = text.find(kValue, at);
    const std::size_t next = text.find(std::string("\n") + std::string(kKey), at + 1);
    const std::size_t end = text.rfind(kValueEnd, next);
    if (key_end == std::string_view::npos || value == std::string_view::npos || end == std::string_view::npos ||
        end < value)
      return std::nullopt;
    const std::string key = to_valid_utf8(text.substr(at + kKey.size(), key_end - at - kKey.size()));
    arguments[key] =
        value_of(*tool, key, without_outer_newlines(text.substr(value + kValue.size(), end - value - kValue.size())));
    at = next == std::string_view::npos ? next : next + 1;
  }
  return ToolCall{"", std::string(name), arguments.dump()};
}

/// Calls between an opening and its last closing tag before the next opening one.
TextCalls between(std::string_view text, std::string_view form, std::string_view open, std::string_view close,
                  const std::vector<ToolSpec>& tools,
                  std::optional<ToolCall> (*parse)(std::string_view, const std::vector<ToolSpec>&)) {
  TextCalls found{form, text.find(open), {}};
  for (std::size_t at = found.begin; at != std::string_view::npos;) {
    const std::size_t next = text.find(std::string("\n") + std::string(open), at + 1);
    const std::size_t end = text.rfind(close, next);
    if (end == std::string_view::npos || end < at) break;
    if (auto call = parse(text.substr(at + open.size(), end - at - open.size()), tools))
      found.calls.push_back(std::move(*call));
    at = next == std::string_view::npos ? next : next + 1;
  }
  return found;
}

}  // namespace

TextCalls calls_in_xml(std::string_view text, const std::vector<ToolSpec>& tools) {
  return between(text, "text_xml", kFunction, kFunctionEnd, tools, parse_call);
}

TextCalls calls_in_arg_tags(std::string_view text, const std::vector<ToolSpec>& tools) {
  return between(text, "glm", kCall, kCallEnd, tools, parse_arg_tags);
}

}  // namespace nkigrid::model
