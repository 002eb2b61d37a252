#include "runner/model/recovery/json_forms.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/model/json_text.hpp"
#include "runner/model/recovery/marks.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kNone = std::string_view::npos;

/// What stands before the JSON of a call. @source chat templates of the models' public repositories
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kMarks = {{
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
    {"plamo", "<|plamo:begin_tool_name:plamo|>"},
    {"qwen", "✿FUNCTION✿:"},
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

/// Whether a header is a name and marks: what else stands between a name and a brace is a call of another form, or
/// code.
bool leads_to_arguments(std::string_view header, std::string_view name) {
  constexpr std::size_t kMostBehind = 24;  // "json", ":0", "Action Input:", an id
  std::size_t behind = 0;
  for (std::size_t at = header.find(name) + name.size(); at < header.size(); ++at) {
    if (header[at] == '(') return false;
    const char close = header[at] == '<' ? '>' : header[at] == '[' ? ']' : '\0';
    const std::size_t end = close == '\0' ? kNone : header.find(close, at);
    if (end != kNone) {
      at = end;
    } else if (std::isspace(static_cast<unsigned char>(header[at])) == 0) {
      ++behind;
    }
  }
  return behind <= kMostBehind;
}

std::string text_of(const Json& arguments) {
  return arguments.is_string() ? arguments.get<std::string>() : arguments.dump();
}

/// The name in a call's JSON, where it is one of the tools'.
std::string name_in(const Json& json, const std::vector<ToolSpec>& tools) {
  for (const char* key : {"name", "tool_name", "function", "tool", "action"}) {
    const auto name = json.find(key);
    if (name != json.end() && name->is_string() && find_tool(tools, name->get<std::string>()) != nullptr)
      return name->get<std::string>();
  }
  return "";
}

/// A call as its tool's name and what it takes: `{"compile_kernel": {...}}`.
std::optional<ToolCall> keyed_call(const Json& json, const std::vector<ToolSpec>& tools) {
  if (json.size() != 1 || !json.front().is_object() || find_tool(tools, json.begin().key()) == nullptr)
    return std::nullopt;
  return ToolCall{"", json.begin().key(), json.front().dump()};
}

constexpr std::array<const char*, 6> kArguments = {"arguments", "parameters",   "input",
                                                   "args",      "action_input", "tool_input"};

/// A tool as it is offered, with the schema of what it takes, is no call.
bool is_schema(const Json& arguments) {
  return arguments.is_object() && arguments.contains("properties") && arguments.value("type", Json()) == "object";
}

/// A call from its JSON: one that names its tool, or arguments of the one tool that the header names.
std::optional<ToolCall> call_in(std::string_view header, const Json& json, const std::vector<ToolSpec>& tools) {
  if (!json.is_object()) return std::nullopt;
  if (json.contains("function") && json["function"].is_object()) return call_in(header, json["function"], tools);
  if (const std::string name = name_in(json, tools); !name.empty()) {
    for (const char* key : kArguments) {
      if (!json.contains(key)) continue;
      return is_schema(json[key]) ? std::nullopt : std::optional(ToolCall{"", name, text_of(json[key])});
    }
    return ToolCall{"", name, "{}"};
  }
  if (auto call = keyed_call(json, tools)) return call;
  const auto named = [&](const ToolSpec& tool) {
    return stands_in(header, tool.name) && leads_to_arguments(header, tool.name);
  };
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
      if (auto call = unclosed_call(text, at, open, tools)) {
        found.calls.push_back(std::move(*call));
        found.end = text.find(kCallsEnd, open);
      }
      break;
    }
    if (auto call = call_in(text.substr(at, open - at), parsed(text.substr(open, end - open)), tools))
      found.calls.push_back(std::move(*call)), found.end = end;
    at = end;
    open = text.find_first_not_of(" \t\r\n,", end);
    if (open != kNone && text[open] != '{') break;
  }
  return at;
}

/// Calls behind marks of templates that are known here.
TextCalls calls_behind_known_marks(std::string_view text, const std::vector<ToolSpec>& tools) {
  for (const auto& [form, mark] : kMarks) {
    TextCalls found{form, text.find(mark), 0, {}};
    std::size_t unclosed = 0;
    for (std::size_t at = found.begin; at != kNone && unclosed < kMostUnclosed; at = text.find(mark, at))
      at = read_objects(text, at + mark.size(), tools, found, unclosed);
    if (!found.calls.empty()) return found;
  }
  return {};
}

/// Calls behind anything else that announces one.
TextCalls calls_behind_leads(std::string_view text, const std::vector<ToolSpec>& tools) {
  TextCalls found{"tagged", kNone, 0, {}};
  std::size_t unclosed = 0;
  for (std::size_t open = text.find('{'); open != kNone && unclosed < kMostUnclosed;) {
    const Lead lead = lead_before(text, open);
    if (!lead.says_call) {
      open = text.find('{', open + 1);
      continue;
    }
    const auto calls = found.calls.size();
    const std::size_t end = read_objects(text, lead.begin, tools, found, unclosed);
    if (calls == 0 && !found.calls.empty()) found.begin = lead.begin;
    open = text.find('{', std::max(end, open + 1));
  }
  return found;
}

/// `Action: NAME`, then `Action Input: {...}`. @source ReAct, arXiv 2210.03629, as agents' libraries prompt for it
TextCalls calls_of_react(std::string_view text, const std::vector<ToolSpec>& tools) {
  constexpr std::string_view kInput = "Action Input:";
  constexpr std::string_view kName = "Action:";
  TextCalls found{"react", kNone, 0, {}};
  const std::size_t input = text.find(kInput), begin = text.substr(0, input).rfind(kName);
  if (input == kNone || begin == kNone || input - begin > kLongestHeader) return found;
  const auto said = text.substr(begin + kName.size(), input - begin - kName.size());
  const auto first = said.find_first_not_of(" \t`*"), last = said.find_last_not_of(" \t\r\n`*");
  if (first == kNone || last < first || find_tool(tools, said.substr(first, last + 1 - first)) == nullptr) return found;
  std::size_t unclosed = 0;
  read_objects(text, begin, tools, found, unclosed);
  if (found.calls.size() == 1) found.begin = begin;
  return found.calls.size() == 1 ? found : TextCalls{};
}

/// `>>>NAME`, then JSON in a line of its own: Functionary.
TextCalls calls_of_functionary(std::string_view text, const std::vector<ToolSpec>& tools) {
  constexpr std::string_view kTo = ">>>";
  TextCalls found{"functionary", kNone, 0, {}};
  std::size_t unclosed = 0;
  for (auto at = text.find(kTo); at != kNone && unclosed < kMostUnclosed; at = text.find(kTo, at)) {
    const auto rest = text.substr(at + kTo.size(), kLongestHeader);
    const auto name = rest.substr(0, rest.find('\n'));
    const bool meant = find_tool(tools, name) != nullptr && rest.substr(name.size()).starts_with("\n{");
    if (meant) found.begin = std::min(found.begin, at);
    at = meant ? read_objects(text, at + kTo.size(), tools, found, unclosed) : at + kTo.size();
  }
  return found;
}

/// A text without the one fence that is around all of it.
std::string_view out_of_fence(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  const auto line = text.substr(0, text.find('\n'));
  if (!text.starts_with("```") || !text.ends_with("\n```") || line.size() > kLongestHeader) return text;
  return text.substr(line.size(), text.size() - line.size() - 3);
}

/// A tool's name and its arguments: what is left of a template of which a server took the marks for special tokens.
TextCalls named_arguments(std::string_view text, const std::vector<ToolSpec>& tools) {
  const std::size_t open = text.substr(0, kLongestHeader).find('{');
  const std::size_t end = open == kNone ? kNone : object_end(text, open);
  if (end == kNone || !is_trailer(text.substr(end))) return {};
  const auto header = text.substr(0, open);
  for (const ToolSpec& tool : tools) {
    const std::size_t name = header.find(tool.name);
    if (name == kNone || !leads_to_arguments(header, tool.name)) continue;
    auto before = header.substr(0, name);
    for (const std::string_view space : {"functions.", "function"})
      if (before.starts_with(space)) before.remove_prefix(space.size());
    if (!is_trailer(before)) continue;
    if (auto call = call_in(header, parsed(text.substr(open, end - open)), tools))
      return {"alone", 0, text.size(), {std::move(*call)}};
  }
  return {};
}

/// The calls of a reply that is written as its interface would send it.
Json calls_within(Json json) {
  if (json.is_object() && json.contains("tool_calls")) json = Json(json["tool_calls"]);
  if (json.is_object() && json.contains("function_call")) json = Json(json["function_call"]);
  return json.is_object() ? Json::array({std::move(json)}) : json;
}

}  // namespace

TextCalls calls_in_json(std::string_view text, const std::vector<ToolSpec>& tools) {
  for (const auto find : {calls_behind_known_marks, calls_of_functionary, calls_of_react, calls_behind_leads}) {
    if (auto found = find(text, tools); !found.calls.empty()) return found;
  }
  return {};
}

TextCalls calls_alone(std::string_view text, const std::vector<ToolSpec>& tools) {
  const auto whole = out_of_fence(text);
  if (auto named = named_arguments(whole, tools); !named.calls.empty()) return named;
  if (whole.empty() || (whole.find('{') > 1 && whole.substr(0, whole.find('{')).find_first_not_of("[ \t\r\n") != kNone))
    return {};
  const Json json = calls_within(parsed(whole));
  if (!json.is_array()) return {};
  TextCalls found{"alone", 0, text.size(), {}};
  for (const Json& item : json) {
    const bool told = item.is_object() && std::any_of(kArguments.begin(), kArguments.end(), [&](const char* key) {
                        return item.contains(key) || (item.contains("function") && item["function"].is_object());
                      });
    auto call = told ? call_in("", item, tools) : std::nullopt;
    if (!call) return {};
    found.calls.push_back(std::move(*call));
  }
  return found;
}

}  // namespace nkigrid::model
