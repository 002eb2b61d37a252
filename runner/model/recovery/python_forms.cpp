#include "runner/model/recovery/python_forms.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/model/json_text.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;
constexpr std::array<std::string_view, 4> kPythonMarks = {"<|python_tag|>", "<|python_start|>", "<function_calls>",
                                                          "```tool_code"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Reads one text from its beginning.
class PythonCalls {
 public:
  PythonCalls(std::string_view text, const std::vector<ToolSpec>& tools) : rest_(text), tools_(tools) {}

  std::vector<ToolCall> calls() {
    std::vector<ToolCall> calls;
    take("[");
    while (auto call = next()) {
      calls.push_back(std::move(*call));
      take(",");
      take(";");
    }
    return calls;
  }

 private:
  bool take(std::string_view what) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }

  std::string_view word() {
    take("");
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word);
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

  std::string_view rest_;
  const std::vector<ToolSpec>& tools_;
};

}  // namespace

TextCalls calls_in_python(std::string_view text, const std::vector<ToolSpec>& tools) {
  for (const std::string_view mark : kPythonMarks) {
    const std::size_t begin = text.find(mark);
    if (begin == std::string_view::npos) continue;
    TextCalls found{"pythonic", begin, PythonCalls(text.substr(begin + mark.size()), tools).calls()};
    if (!found.calls.empty()) return found;
  }
  return {};
}

}  // namespace nkigrid::model
