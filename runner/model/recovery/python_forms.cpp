#include "runner/model/recovery/python_forms.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/recovery/marks.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;
constexpr auto kNowhere = std::string_view::npos;
/// Places that are looked at: each costs what follows it, and a model decides how many there are.
constexpr std::size_t kMostPlaces = 64;
/// What templates write before a tool's name.
constexpr std::array<std::string_view, 3> kPrefixes = {"default_api.", "functions.", "tools."};

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Reads one text from its beginning.
class PythonCalls {
 public:
  PythonCalls(std::string_view text, const std::vector<ToolSpec>& tools) : rest_(text), tools_(tools) {}

  std::vector<ToolCall> calls() {
    std::vector<ToolCall> calls;
    take("[");
    for (const char* rest = nullptr; rest != rest_.data();) {
      rest = rest_.data();
      const bool printed = take("print(");
      if (auto call = next()) {
        calls.push_back(std::move(*call));
        rest_at_end_ = rest_;
        if (printed && take(")")) rest_at_end_ = rest_;
        if (!take(",")) take(";");
        continue;
      }
      break;
    }
    return calls;
  }

  /// What follows the last call.
  std::string_view rest() const { return rest_at_end_; }

 private:
  bool take(std::string_view what) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }

  std::string_view word() {
    take("");
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word_char);
    const auto found = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(found.size());
    return found;
  }

  /// The text of a literal: a string, or what ends at a comma or bracket.
  std::string_view literal() {
    take("");
    const bool quoted = rest_.starts_with('"') || rest_.starts_with('\'');
    const std::size_t end = quoted ? string_end(rest_, 0) : std::min(rest_.find_first_of(",)\n"), rest_.size());
    const auto found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }

  std::optional<ToolCall> next() {
    for (const auto prefix : kPrefixes) take(prefix);
    const std::string name(word());
    if (find_tool(tools_, name) == nullptr) return std::nullopt;
    take(".call");
    if (!take("(")) return std::nullopt;
    std::string object = "{";
    while (!take(")")) {
      const std::string key(word());
      if (key.empty() || !take("=")) return std::nullopt;
      object += (object == "{" ? "\"" : ", \"") + key + "\": " + relaxed_json(literal());
      if (take(",")) continue;
      if (!take(")")) return std::nullopt;
      break;
    }
    const Json arguments = parse_json(object + "}");
    return arguments.is_object() ? std::optional(ToolCall{"", name, arguments.dump()}) : std::nullopt;
  }

  std::string_view rest_, rest_at_end_;
  const std::vector<ToolSpec>& tools_;
};

/// Where the text of a call begins that names its tool at `at`: before `print(` and the like.
std::size_t call_begin(std::string_view text, std::size_t at) {
  auto before = text.substr(0, at);
  for (const auto prefix : kPrefixes)
    if (before.ends_with(prefix)) before.remove_suffix(prefix.size());
  if (before.ends_with("print(")) before.remove_suffix(6);
  return before.size();
}

/// Where the first call begins that a mark announces, or that begins the text.
std::size_t announced(std::string_view text, const std::vector<ToolSpec>& tools) {
  std::size_t first = kNowhere;
  for (const ToolSpec& tool : tools) {
    std::size_t places = 0;
    for (auto at = text.find(tool.name); at < first && places < kMostPlaces; at = text.find(tool.name, at + 1)) {
      const auto behind = text.substr(at + tool.name.size());
      if ((!behind.starts_with('(') && !behind.starts_with(".call(")) || (at > 0 && is_word_char(text[at - 1])))
        continue;
      ++places;
      const Lead lead = lead_before(text, call_begin(text, at));
      if (lead.says_call || text.substr(0, lead.begin).find_first_not_of(" \t\r\n") == kNowhere) first = at;
    }
  }
  return first;
}

/// Reads `{key:value, ...}` behind `call:NAME`.
class BracedCall {
 public:
  explicit BracedCall(std::string_view text) : rest_(text) {}

  /// The arguments; none where they are not whole.
  std::optional<Json> arguments() {
    Json arguments = Json::object();
    rest_.remove_prefix(1);
    while (!take("}")) {
      const std::size_t colon = rest_.find(':');
      if (colon == kNowhere || rest_.substr(0, colon).find_first_of("{}<\n") != kNowhere) return std::nullopt;
      const std::string key = to_valid_utf8(rest_.substr(0, colon));
      rest_.remove_prefix(colon + 1);
      auto value = next_value();
      if (!value) return std::nullopt;
      arguments[key] = std::move(*value);
      take(",");
    }
    return arguments;
  }

  std::string_view rest() const { return rest_; }

 private:
  bool take(std::string_view what) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }

  std::optional<Json> next_value() {
    for (const std::string_view quote : {"<|\"|>", "<escape>"}) {
      if (!take(quote)) continue;
      const std::size_t end = rest_.find(quote);
      if (end == kNowhere) return std::nullopt;
      Json value(to_valid_utf8(rest_.substr(0, end)));
      rest_.remove_prefix(end + quote.size());
      return value;
    }
    const std::size_t end = rest_.find_first_of(",}");
    if (end == kNowhere) return std::nullopt;
    Json value = parse_json(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return value.is_discarded() ? std::nullopt : std::optional(std::move(value));
  }

  std::string_view rest_;
};

}  // namespace

TextCalls calls_in_python(std::string_view text, const std::vector<ToolSpec>& tools) {
  const std::size_t at = announced(text, tools);
  if (at == kNowhere) return {};
  const std::size_t call = call_begin(text, at);
  const Lead lead = lead_before(text, call);
  PythonCalls reader(text.substr(call), tools);
  TextCalls found{"pythonic", lead.begin, 0, reader.calls()};
  if (found.calls.empty()) return {};
  if (!lead.says_call && !is_trailer(reader.rest())) return {};
  found.end = text.size() - reader.rest().size();
  return found;
}

TextCalls calls_in_braces(std::string_view text, const std::vector<ToolSpec>& tools) {
  constexpr std::string_view kCall = "call:";
  TextCalls found{"gemma", kNowhere, 0, {}};
  std::size_t places = 0;
  for (auto at = text.find(kCall); at != kNowhere && places < kMostPlaces; at = text.find(kCall, at + 1)) {
    const auto rest = text.substr(at + kCall.size());
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_word_char);
    const auto name = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    if (find_tool(tools, name) == nullptr || !rest.substr(name.size()).starts_with('{')) continue;
    ++places;
    BracedCall reader(rest.substr(name.size()));
    auto arguments = reader.arguments();
    if (!arguments) continue;
    if (found.calls.empty()) found.begin = at;
    found.calls.push_back({"", std::string(name), arguments->dump()});
    found.end = text.size() - reader.rest().size();
  }
  return found;
}

}  // namespace nkigrid::model
