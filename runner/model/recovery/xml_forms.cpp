#include "runner/model/recovery/xml_forms.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

/// How a family of templates writes a call: its tag, those of its values, and how a value's tag ends.
struct XmlForm {
  std::string_view form, open, close, value, value_close;
};
constexpr std::array<XmlForm, 4> kXmlForms = {{
    {"text_xml", "<function=", "</function>", "<parameter=", "</parameter>"},
    {"text_xml", "<function name=", "</function>", "<parameter name=", "</parameter>"},
    {"invoke", "<invoke name=", "</invoke>", "<parameter name=", "</parameter>"},
    {"dsml", "<｜DSML｜invoke name=", "</｜DSML｜invoke>", "<｜DSML｜parameter name=", "</｜DSML｜parameter>"},
}};
constexpr std::string_view kCall = "<tool_call>", kCallEnd = "</tool_call>";
constexpr std::string_view kKey = "<arg_key>", kKeyEnd = "</arg_key>";
constexpr std::string_view kValue = "<arg_value>", kValueEnd = "</arg_value>";
constexpr auto kNever = std::string_view::npos;

/// The next tag that is one and no look-alike in a source: it begins a line, or follows one of `behind` at once.
std::size_t next_tag(std::string_view text, std::string_view tag, std::size_t from,
                     std::initializer_list<std::string_view> behind) {
  constexpr std::size_t kMostSpaces = 16;
  for (auto at = text.find(tag, from); at != kNever; at = text.find(tag, at + 1)) {
    auto before = text.substr(at > 64 ? at - 64 : 0, std::min<std::size_t>(at, 64));
    if (at == 0 || before.ends_with('\n')) return at;
    for (std::size_t n = 0; n < kMostSpaces && (before.ends_with(' ') || before.ends_with('\n')); ++n)
      before.remove_suffix(1);
    if (std::any_of(behind.begin(), behind.end(), [&](auto end) { return before.ends_with(end); })) return at;
  }
  return kNever;
}

/// What a tag names: `compile_kernel`, `"compile_kernel"`, `"kernel_source" string="true"`.
std::string_view named(std::string_view text) {
  const bool quoted = text.starts_with('"') || text.starts_with('\'');
  if (quoted) return text.substr(1, std::min(text.find(text[0], 1), text.size()) - 1);
  return text;
}

std::string_view without_outer_newlines(std::string_view text) {
  constexpr std::string_view kData = "<![CDATA[", kDataEnd = "]]>";
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.starts_with(kData) && text.ends_with(kDataEnd)) {
    text.remove_prefix(kData.size());
    text.remove_suffix(kDataEnd.size());
  }
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

/// One call from its text behind its tag. A source may hold look-alikes of every tag, so a value ends at the last
/// closing tag before the next value or the call's end; where that alone is missing, with the call.
std::optional<ToolCall> parse_call(const XmlForm& form, std::string_view text, const std::vector<ToolSpec>& tools) {
  const std::size_t name_end = text.find('>');
  if (name_end == kNever) return std::nullopt;
  ToolCall call;
  call.name = std::string(named(text.substr(0, name_end)));
  const ToolSpec* tool = find_tool(tools, call.name);
  if (tool == nullptr) return std::nullopt;
  Json arguments = Json::object();
  std::size_t at = text.find(form.value, name_end);
  const auto between_tags = text.substr(name_end + 1, std::min(at, text.size()) - name_end - 1);
  if (between_tags.find('{') != kNever) return std::nullopt;  // its arguments are JSON: json_forms
  while (at != kNever) {
    const std::size_t key_end = text.find('>', at);
    if (key_end == kNever) return std::nullopt;
    const auto key = to_valid_utf8(named(text.substr(at + form.value.size(), key_end - at - form.value.size())));
    const std::size_t next = next_tag(text, form.value, key_end, {form.value_close});
    const auto value = text.substr(key_end + 1, std::min(next, text.size()) - key_end - 1);
    arguments[key] = value_of(*tool, key, without_outer_newlines(value.substr(0, value.rfind(form.value_close))));
    at = next;
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
    const std::size_t next = next_tag(text, kKey, at + 1, {kValueEnd});
    const std::size_t end = text.rfind(kValueEnd, next);
    if (key_end == std::string_view::npos || value == std::string_view::npos || end == std::string_view::npos ||
        end < value)
      return std::nullopt;
    const std::string key = to_valid_utf8(text.substr(at + kKey.size(), key_end - at - kKey.size()));
    arguments[key] =
        value_of(*tool, key, without_outer_newlines(text.substr(value + kValue.size(), end - value - kValue.size())));
    at = next;
  }
  return ToolCall{"", std::string(name), arguments.dump()};
}

/// Calls between an opening and its last closing tag before the next opening one. Where a template's other tag closes
/// the whole, the call's own may be missing.
template <class Parse>
TextCalls between(std::string_view text, std::string_view form, std::string_view open, std::string_view close,
                  Parse parse) {
  TextCalls found{form, text.find(open), {}};
  for (std::size_t at = found.begin; at != kNever;) {
    const std::size_t next = next_tag(text, open, at + 1, {close, kCall, kCallEnd});
    std::size_t end = text.rfind(close, next);
    if (end == kNever || end < at) end = text.rfind(kCallEnd, next);
    if (end == kNever || end < at) break;
    if (auto call = parse(text.substr(at + open.size(), end - at - open.size())))
      found.calls.push_back(std::move(*call));
    at = next;
  }
  return found;
}

}  // namespace

TextCalls calls_in_xml(std::string_view text, const std::vector<ToolSpec>& tools) {
  for (const XmlForm& form : kXmlForms) {
    auto found = between(text, form.form, form.open, form.close,
                         [&](std::string_view call) { return parse_call(form, call, tools); });
    if (!found.calls.empty()) return found;
  }
  return {};
}

TextCalls calls_in_arg_tags(std::string_view text, const std::vector<ToolSpec>& tools) {
  return between(text, "glm", kCall, kCallEnd, [&](std::string_view call) { return parse_arg_tags(call, tools); });
}

}  // namespace nkigrid::model
