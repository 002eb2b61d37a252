#include "runner/model/recovery/xml_forms.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/recovery/marks.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

/// How a template writes a call: its tag, those of its values, and how a value's tag ends.
struct XmlForm {
  std::string_view form;
  std::string open, close, value, value_close;
  std::string_view tag_end = ">";
};
/// What the tags of a family have in common; whatever namespace a model's maker puts before them
/// (`<｜DSML｜invoke name=`, `<steptml:invoke name=`) stands before each of them.
struct XmlFamily {
  std::string_view form, open, close;
  std::array<std::string_view, 2> values;  ///< of these one
};
constexpr std::array<XmlFamily, 5> kFamilies = {{
    {"text_xml", "function=", "function>", {"parameter=", "param="}},
    {"text_xml", "function name=", "function>", {"parameter name=", "param name="}},
    {"invoke", "invoke name=", "invoke>", {"parameter name=", "param name="}},
    {"invoke", "tool name=", "tool>", {"arg name=", "parameter name="}},
    {"invoke", "tool_call name=", "tool_call>", {"parameter name=", "arg name="}},
}};
constexpr std::string_view kCallEnd = "</tool_call>";
constexpr auto kNever = std::string_view::npos;
constexpr std::string_view kBlank = " \t\r\n";
/// The longest namespace of a tag, `｜DSML｜ `.
constexpr std::size_t kLongestNamespace = 32;

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

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
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

Json properties_of(const ToolSpec& tool) {
  const Json schema = Json::parse(tool.parameters, nullptr, false);
  return schema.is_object() ? schema.value("properties", Json::object()) : Json::object();
}

/// A value as its text says it: a number where the schema wants one, the text in a literal of JSON that is all of it.
Json value_of(const ToolSpec& tool, const std::string& key, std::string_view text) {
  if (properties_of(tool).value(key, Json::object()).value("type", "") == "integer") {
    long long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') {
    if (Json literal = parse_json(text); literal.is_string()) return literal;
  }
  return to_valid_utf8(text);
}

/// Values under tags of their own names: `<kernel_source>...</kernel_source>`.
Json values_by_name(const ToolSpec& tool, std::string_view text) {
  const Json properties = properties_of(tool);
  Json arguments = Json::object();
  for (const auto& [key, schema] : properties.items()) {
    const std::string open = "<" + key + ">", close = "</" + key + ">";
    const std::size_t begin = text.find(open), end = text.rfind(close);
    if (begin == kNever || end == kNever || end < begin) continue;
    const auto value = text.substr(begin + open.size(), end - begin - open.size());
    arguments[key] = value_of(tool, key, without_outer_newlines(value));
  }
  return arguments;
}

/// One call from its text behind its tag. A source may hold look-alikes of every tag, so a value ends at the last
/// closing tag before the next value or the call's end; where that alone is missing, with the call.
std::optional<ToolCall> parse_call(const XmlForm& form, std::string_view text, const std::vector<ToolSpec>& tools) {
  const std::size_t name_end = text.find(form.tag_end);
  if (name_end == kNever) return std::nullopt;
  ToolCall call;
  call.name = std::string(trimmed(named(text.substr(0, name_end))));
  const ToolSpec* tool = find_tool(tools, call.name);
  if (tool == nullptr) return std::nullopt;
  std::size_t at = text.find(form.value, name_end);
  Json arguments = at == kNever ? values_by_name(*tool, text.substr(name_end)) : Json::object();
  const std::size_t body = name_end + form.tag_end.size();
  const auto between_tags = text.substr(body, std::min(at, text.size()) - body);
  if (arguments.empty() && between_tags.find('{') != kNever) return std::nullopt;  // its arguments are JSON: json_forms
  while (at != kNever) {
    const std::size_t key_end = text.find(form.tag_end, at);
    if (key_end == kNever) return std::nullopt;
    const auto key = to_valid_utf8(named(text.substr(at + form.value.size(), key_end - at - form.value.size())));
    const std::size_t next = next_tag(text, form.value, key_end, {form.value_close});
    const std::size_t begin = key_end + form.tag_end.size();
    const auto value = text.substr(begin, std::min(next, text.size()) - begin);
    arguments[key] = value_of(*tool, key, without_outer_newlines(value.substr(0, value.rfind(form.value_close))));
    at = next;
  }
  call.arguments = arguments.dump();
  return call;
}

/// How a template marks a call's name, keys and values: GLM and those who took after it.
struct ArgForm {
  std::string open, close, key, key_end, value, value_end;
};

/// One call from its text between its tags.
std::optional<ToolCall> parse_arg_tags(const ArgForm& form, std::string_view text, const std::vector<ToolSpec>& tools) {
  std::size_t at = text.find(form.key);
  auto head = trimmed(text.substr(0, at));
  if (head.starts_with("<name>")) head = trimmed(head.substr(6));
  const auto name = trimmed(head.substr(0, head.find_first_of("<\n")));
  const ToolSpec* tool = find_tool(tools, name);
  if (tool == nullptr || !is_trailer(head.substr(name.size()))) return std::nullopt;
  Json arguments = Json::object();
  while (at != kNever) {
    const std::size_t key_end = text.find(form.key_end, at);
    const std::size_t value = text.find(form.value, at);
    const std::size_t next = next_tag(text, form.key, at + 1, {form.value_end});
    const std::size_t end = text.rfind(form.value_end, next);
    if (key_end == kNever || value == kNever || end == kNever || end < value) return std::nullopt;
    const std::string key = to_valid_utf8(text.substr(at + form.key.size(), key_end - at - form.key.size()));
    const std::size_t begin = value + form.value.size();
    arguments[key] = value_of(*tool, key, without_outer_newlines(text.substr(begin, end - begin)));
    at = next;
  }
  return ToolCall{"", tool->name, arguments.dump()};
}

/// Calls between an opening and its last closing tag before the next opening one. Where a template's other tag closes
/// the whole, the call's own may be missing.
template <class Parse>
TextCalls between(std::string_view text, std::string_view form, const std::string& open, const std::string& close,
                  Parse parse) {
  TextCalls found{form, text.find(open), 0, {}};
  for (std::size_t at = found.begin; at != kNever;) {
    const std::size_t next = next_tag(text, open, at + 1, {close, "<tool_call>", kCallEnd});
    std::size_t end = text.rfind(close, next);
    if (end == kNever || end < at) end = text.rfind(kCallEnd, next);
    if (end == kNever || end < at) break;
    if (auto call = parse(text.substr(at + open.size(), end - at - open.size()))) {
      found.calls.push_back(std::move(*call));
      found.end = end;
    }
    at = next;
  }
  return found;
}

/// The first tag that holds `word` behind a namespace: from its `<` to the word, or to its `>` where `whole`. "": none
std::string_view tag_with(std::string_view text, std::string_view word, bool whole) {
  for (auto at = text.find(word); at != kNever; at = text.find(word, at + 1)) {
    const std::size_t from = at > kLongestNamespace ? at - kLongestNamespace : 0;
    const auto before = text.substr(from, at - from);
    const std::size_t begin = before.rfind('<');
    if (begin == kNever || before.find_first_of("/>=\"\n", begin) != kNever) continue;
    if (!whole) return before.substr(begin);
    const std::size_t end = text.substr(0, at + word.size() + kLongestNamespace).find('>', at);
    if (end == kNever) continue;
    const auto tag = text.substr(from + begin, end + 1 - from - begin);
    if (tag.find_first_of(" =\n") == kNever) return tag;
  }
  return "";
}

std::string closing(std::string_view tag) { return "</" + std::string(tag.substr(1)); }

TextCalls calls_of_family(const XmlFamily& family, std::string_view text, const std::vector<ToolSpec>& tools) {
  const bool plain = text.find("<" + std::string(family.open)) != kNever;
  const std::string space(plain ? "<" : tag_with(text, family.open, false));
  if (space.empty()) return {};
  XmlForm form{family.form, space + std::string(family.open), closing(space + std::string(family.close)), "", ""};
  if (space.find("DSML") != kNever) form.form = "dsml";
  for (const std::string_view value : family.values) {
    if (!form.value.empty() && text.find(form.value) != kNever) break;
    form.value = space + std::string(value);
    form.value_close = closing(space + std::string(value.substr(0, value.find_first_of(" ="))) + ">");
  }
  return between(text, form.form, form.open, form.close,
                 [&](std::string_view call) { return parse_call(form, call, tools); });
}

/// `<|open|>call tool="NAME" index="1"<|sep|>`: Kimi K3.
TextCalls calls_of_kimi(std::string_view text, const std::vector<ToolSpec>& tools) {
  const XmlForm form{
      "kimi",   "<|open|>call tool=", "<|close|>call<|sep|>", "<|open|>argument key=", "<|close|>argument<|sep|>",
      "<|sep|>"};
  return between(text, form.form, form.open, form.close,
                 [&](std::string_view call) { return parse_call(form, call, tools); });
}

/// The tool's own name as the tag, or `<invoke><tool_name>NAME</tool_name>`, and each value in a tag of its name.
TextCalls calls_by_name(std::string_view text, const std::vector<ToolSpec>& tools) {
  const auto is_meant = [](const ToolSpec& tool, std::string_view body) {
    return body.find("<tool_name>" + tool.name + "</tool_name>") != kNever;
  };
  auto found = between(text, "by_name", "<invoke>", "</invoke>", [&](std::string_view body) -> std::optional<ToolCall> {
    const auto tool = std::find_if(tools.begin(), tools.end(), [&](const ToolSpec& t) { return is_meant(t, body); });
    if (tool == tools.end()) return std::nullopt;
    return ToolCall{"", tool->name, values_by_name(*tool, body).dump()};
  });
  if (!found.calls.empty()) return found;
  std::size_t begin = 0;
  for (const ToolSpec& tool : tools) {
    const std::string open = "<" + tool.name + ">";
    if (next_tag(text, open, 0, {}) == kNever) continue;
    auto own = between(text, "by_name", open, closing(open), [&](std::string_view body) {
      return std::optional(ToolCall{"", tool.name, values_by_name(tool, body).dump()});
    });
    if (own.calls.empty()) continue;
    if (!found.calls.empty() && own.begin < begin) std::swap(own, found);
    begin = own.begin;
    if (found.calls.empty()) {
      found = std::move(own);
      continue;
    }
    std::move(own.calls.begin(), own.calls.end(), std::back_inserter(found.calls));
    found.end = std::max(found.end, own.end);
  }
  return found;
}

/// A text without the mark that MiniMax M3 puts before each of its tags.
std::string without_marks(std::string_view text) {
  constexpr std::string_view kMark = "]<]minimax[>[";
  std::string result;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t mark = std::min(text.find(kMark, at), text.size());
    result += text.substr(at, mark - at);
    at = mark + kMark.size();
  }
  return result;
}

TextCalls calls_in_plain_xml(std::string_view text, const std::vector<ToolSpec>& tools) {
  for (const XmlFamily& family : kFamilies) {
    if (auto found = calls_of_family(family, text, tools); !found.calls.empty()) return found;
  }
  if (auto found = calls_of_kimi(text, tools); !found.calls.empty()) return found;
  return calls_by_name(text, tools);
}

}  // namespace

TextCalls calls_in_xml(std::string_view text, const std::vector<ToolSpec>& tools) {
  const std::size_t mark = text.find("]<]minimax[>[");
  if (mark == kNever) return calls_in_plain_xml(text, tools);
  TextCalls found = calls_in_plain_xml(without_marks(text), tools);
  if (!found.calls.empty()) found.begin = mark, found.end = text.size();
  return found;
}

TextCalls calls_in_arg_tags(std::string_view text, const std::vector<ToolSpec>& tools) {
  // Qwen3-Coder's values without the tag that names the function.
  const ArgForm bare{"<tool_call>", "</tool_call>", "<parameter=", ">", ">", "</parameter>"};
  if (text.find(bare.key) != kNever) {
    auto found = between(text, "text_xml", bare.open, bare.close,
                         [&](std::string_view call) { return parse_arg_tags(bare, call, tools); });
    if (!found.calls.empty()) return found;
  }
  ArgForm form{"<|tool_call:start|>", "<|tool_call:end|>",  "<|tool_arg:start|>",
               "<|tool_arg:value|>",  "<|tool_arg:value|>", "<|tool_arg:end|>"};
  if (text.find(form.open) == kNever) {
    const auto open = tag_with(text, "tool_call", true), key = tag_with(text, "arg_key", true),
               value = tag_with(text, "arg_value", true);
    std::string_view call = open;  // `<tool_calls>` may stand around
    while (call.find("tool_calls") != kNever)
      call =
          tag_with(text.substr(static_cast<std::size_t>(call.data() - text.data()) + call.size()), "tool_call", true);
    if (call.empty()) return {};
    const auto named_or = [](std::string_view tag, std::string_view usual) { return tag.empty() ? usual : tag; };
    form = {std::string(call), closing(call), std::string(named_or(key, "<arg_key>")), "", "", ""};
    form.key_end = closing(form.key);
    form.value = named_or(value, "<arg_value>");
    form.value_end = closing(form.value);
  }
  return between(text, "glm", form.open, form.close,
                 [&](std::string_view call) { return parse_arg_tags(form, call, tools); });
}

}  // namespace nkigrid::model
