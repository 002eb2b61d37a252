#include "runner/agent/tools.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "runner/agent/code_kind.hpp"
#include "runner/agent/fences.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/python/shape.hpp"

namespace nkigrid::agent {
namespace {

constexpr std::int64_t kMostTrials = 5, kMostLine = 1'000'000'000;

std::string lower_letters_of(std::string_view text) {
  std::string letters;
  for (const unsigned char c : text)
    if (std::isalnum(c) != 0) letters += static_cast<char>(std::tolower(c));
  return letters;
}

/// What a tool takes, and what it must be given.
struct Parameters {
  nlohmann::json properties = nlohmann::json::object(), required = nlohmann::json::array();

  explicit Parameters(const model::ToolSpec& tool) {
    const auto schema = model::parse_json(tool.parameters);
    properties = schema.value("properties", properties);
    required = schema.value("required", required);
  }

  bool know_any_of(const nlohmann::json& arguments) const {
    return std::any_of(arguments.items().begin(), arguments.items().end(),
                       [&](const auto& item) { return properties.contains(item.key()); });
  }

  bool are_all_in(const nlohmann::json& arguments) const {
    return std::all_of(required.begin(), required.end(),
                       [&](const nlohmann::json& key) { return arguments.contains(key.get<std::string>()); });
  }
};

/// An object, or the one that a string holds; else null.
nlohmann::json object_of(const nlohmann::json& value) {
  if (value.is_object()) return value;
  if (!value.is_string()) return {};
  nlohmann::json inner = model::parse_json(value.get<std::string>());
  return inner.is_object() ? inner : nlohmann::json();
}

/// A call that was written as the arguments of itself ({"name": ..., "arguments": {...}}), or arguments in one more
/// object, of whatever name: its one member, and what it says of itself, are no arguments of the tool.
void unwrap(nlohmann::json& arguments, const Parameters& known, DecodedCall& decoded) {
  nlohmann::json inner;
  for (const auto& [key, value] : arguments.items()) {
    if (key == "name" || key == "type" || key == "id") continue;
    if (known.properties.contains(key) || !inner.is_null()) return;
    inner = object_of(value);
    const bool usual = key == "arguments" || key == "parameters" || key == "input";
    if (!inner.is_object() || !known.are_all_in(inner) || !(usual || known.know_any_of(inner))) return;
  }
  if (inner.is_null()) return;
  arguments = std::move(inner);
  decoded.peeled = true;
}

/// Keys that differ from a parameter's in case, hyphens and spaces alone are meant for it.
void mend_keys(nlohmann::json& arguments, const Parameters& known, DecodedCall& decoded) {
  for (const auto& [name, schema] : known.properties.items()) {
    if (arguments.contains(name)) continue;
    const auto letters = lower_letters_of(name);
    const auto meant = std::find_if(arguments.items().begin(), arguments.items().end(), [&](const auto& item) {
      return !known.properties.contains(item.key()) && lower_letters_of(item.key()) == letters;
    });
    if (meant == arguments.items().end()) continue;
    const std::string key = meant.key();
    arguments[name] = nlohmann::json(arguments[key]);
    arguments.erase(key);
    decoded.mended = true;
  }
}

/// The arguments as an object; null when they are none.
nlohmann::json arguments_of(const std::string& text, const Parameters& known, DecodedCall& decoded) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return nlohmann::json::object();  // a call without arguments
  const std::string whole = model::mend_json(text).text;
  nlohmann::json arguments = model::parse_json(whole);
  if (arguments.is_discarded()) {
    if (model::parse_json(model::relaxed_json(whole)).is_null()) return nlohmann::json::object();
    arguments = model::mended_object(whole);
    decoded.mended = arguments.is_object();
    if (!decoded.mended) return {};
  }
  if (arguments.is_null()) return nlohmann::json::object();
  if (arguments.is_string()) {
    const auto inside = arguments.get<std::string>();
    nlohmann::json inner = model::parse_json(inside);
    if (inner.is_discarded()) inner = model::mended_object(inside);
    decoded.peeled = inner.is_object();
    arguments = std::move(inner);
  }
  if (arguments.is_array() && arguments.size() == 1 && arguments[0].is_object()) {
    arguments = nlohmann::json(arguments[0]);
    decoded.peeled = true;
  }
  if (!arguments.is_object()) return {};
  unwrap(arguments, known, decoded);
  mend_keys(arguments, known, decoded);
  return arguments;
}

void read_text(const nlohmann::json& arguments, const char* key, bool required, std::optional<std::string>& value,
               DecodedCall& decoded) {
  const auto it = arguments.find(key);
  if (it == arguments.end() || (!required && it->is_null())) {
    if (required) decoded.problem = fmt::format("'{}' is missing (required: the whole Python file as a string)", key);
  } else if (!required && (*it == "None" || *it == "null")) {
    decoded.mended = true;  // nothing, said in a string: no function and no file is called so
  } else if (it->is_string()) {
    value = it->get<std::string>();
  } else {
    const std::string kind = it->type_name();
    const bool vowel = kind == "array" || kind == "object";
    decoded.problem = fmt::format("'{}' is {} {} (legal: string)", key, vowel ? "an" : "a", kind);
  }
}

std::optional<std::uint32_t> read_count(const nlohmann::json& arguments, const char* key, std::int64_t most,
                                        DecodedCall& decoded) {
  const auto it = arguments.find(key);
  if (it == arguments.end() || it->is_null()) return std::nullopt;
  const bool integral =
      it->is_number_integer() || (it->is_number_float() && std::floor(it->get<double>()) == it->get<double>());
  const double value = it->is_number() ? it->get<double>() : 0;
  if (integral && value >= 1 && value <= static_cast<double>(most)) return static_cast<std::uint32_t>(value);
  decoded.problem = fmt::format("'{}' is {} (legal: an integer from 1 to {})", key, it->dump(), most);
  return std::nullopt;
}

void note_unknown(const nlohmann::json& arguments, std::initializer_list<std::string_view> known,
                  DecodedCall& decoded) {
  for (const auto& [key, value] : arguments.items()) {
    const bool is_known = std::find(known.begin(), known.end(), key) != known.end();
    if (!is_known) decoded.notes.push_back(fmt::format("unknown argument '{}' ignored", elide_middle(key, 64)));
  }
}

std::vector<std::string_view> names_of(const std::vector<model::ToolSpec>& tools) {
  std::vector<std::string_view> names;
  for (const auto& tool : tools) names.push_back(tool.name);
  return names;
}

constexpr std::array kTools = {jobs::Tool::compile, jobs::Tool::verify, jobs::Tool::profile, jobs::Tool::read_docs};

std::optional<jobs::Tool> tool_of(std::string_view name, const std::vector<model::ToolSpec>& offered) {
  const bool is_offered =
      std::any_of(offered.begin(), offered.end(), [&](const auto& tool) { return tool.name == name; });
  const auto at = std::find_if(kTools.begin(), kTools.end(), [&](auto tool) { return name_of(tool) == name; });
  return is_offered && at != kTools.end() ? std::optional(*at) : std::nullopt;
}

model::ToolSpec spec_of(jobs::Tool tool) {
  const std::string name(name_of(tool));
  switch (tool) {
    case jobs::Tool::compile:
      return {name, "Compiles a kernel file. The kernel that compiles is the current one.",
              R"({"type":"object","required":["kernel_source"],"properties":{)"
              R"("kernel_source":{"type":"string","description":"the whole Python file"},)"
              R"("entry":{"type":"string","description":"kernel function, if the file has several"}}})"};
    case jobs::Tool::verify:
      return {name, "Runs the current kernel on random inputs and compares its outputs with the PyTorch reference.",
              R"({"type":"object","required":[],"properties":{)"
              R"("trials":{"type":"integer","minimum":1,"maximum":5,"description":"default 3"},)"
              R"("entry":{"type":"string","description":"must be the compiled entry"}}})"};
    case jobs::Tool::profile:
      return {
          name,
          "Estimates where the current kernel's time goes on one NeuronCore: what binds it, each engine's busy time, "
          "bytes moved, the lines that take longest and the begin of the timeline. Correctness is not looked at.",
          R"({"type":"object","required":[],"properties":{)"
          R"("entry":{"type":"string","description":"must be the compiled entry"}}})"};
    case jobs::Tool::read_docs:
      return {name, "Reads the documentation: without a file the list of files, else a file's text from a line on.",
              R"({"type":"object","required":[],"properties":{)"
              R"("file":{"type":"string","description":"as the list names it"},)"
              R"("line":{"type":"integer","minimum":1,"description":"the first line, default 1"}}})"};
  }
  throw Error(ErrorCode::internal, "a tool has no schema");
}

/// The code in a source that is one fenced block of Markdown, or words and one: marks of a fence are no Python.
std::optional<std::string> out_of_fence(const std::string& source) {
  const auto mark = source.find("```");
  if (mark == std::string::npos) return std::nullopt;
  const bool alone = source.find_first_not_of(" \t\r\n") == mark;
  auto fences = fences_of(source);
  if (fences.size() != 1 || !is_python_tag(fences[0].tag)) return std::nullopt;
  const auto before = std::string_view(source).substr(0, mark);
  if (!alone && (model::looks_like_python(source) || before.find("import ") != std::string_view::npos ||
                 before.find("def ") != std::string_view::npos || kind_of(fences[0].text) != CodeKind::kernel))
    return std::nullopt;
  return std::move(fences[0].text);
}

/// The source without the indent that all of its lines have: no file of Python begins with one.
std::optional<std::string> without_indent(const std::string& source) {
  const auto first = source.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return std::nullopt;
  const auto newline = source.rfind('\n', first);
  const auto begin = newline == std::string::npos ? 0 : newline + 1;
  const auto indent = source.substr(begin, first - begin);
  if (indent.empty()) return std::nullopt;
  std::string result;
  for (std::size_t at = begin; at < source.size();) {
    const auto end = std::min(source.find('\n', at), source.size() - 1) + 1;
    const auto line = std::string_view(source).substr(at, end - at);
    const bool blank = line.find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (!blank && !line.starts_with(indent)) return std::nullopt;
    result += blank ? "\n" : line.substr(indent.size());
    at = end;
  }
  return result;
}

/// The source that was escaped once more than its argument: one line, in which `\n` stands for its ends.
std::optional<std::string> unescaped(const std::string& source) {
  if (source.find('\n') != std::string::npos || source.find("\\n") == std::string::npos) return std::nullopt;
  const auto json = model::parse_json('"' + source + '"');
  if (!json.is_string() || kind_of(json.get<std::string>()) == CodeKind::other) return std::nullopt;
  return json.get<std::string>();
}

/// What is no source as it stands, and can be meant in one way alone.
void mend_source(DecodedCall& decoded) {
  for (const auto mend : {unescaped, out_of_fence, without_indent}) {
    auto mended = mend(decoded.source);
    if (!mended) continue;
    decoded.source = std::move(*mended);
    decoded.mended = true;
  }
}

/// What a tool takes beside what all know. Whether it is missing or of a wrong kind is the call's problem.
void read_arguments(const nlohmann::json& arguments, DecodedCall& decoded) {
  if (decoded.tool != jobs::Tool::read_docs) read_text(arguments, "entry", false, decoded.entry, decoded);
  switch (*decoded.tool) {
    case jobs::Tool::compile: {
      std::optional<std::string> source;
      read_text(arguments, "kernel_source", true, source, decoded);
      decoded.source = source.value_or("");
      mend_source(decoded);
      return note_unknown(arguments, {"kernel_source", "entry"}, decoded);
    }
    case jobs::Tool::verify:
      decoded.trials = read_count(arguments, "trials", kMostTrials, decoded);
      return note_unknown(arguments, {"trials", "entry"}, decoded);
    case jobs::Tool::profile:
      return note_unknown(arguments, {"entry"}, decoded);
    case jobs::Tool::read_docs:
      read_text(arguments, "file", false, decoded.file, decoded);
      decoded.line = read_count(arguments, "line", kMostLine, decoded).value_or(1);
      return note_unknown(arguments, {"file", "line"}, decoded);
  }
}

/// The letters of a name, of its last part behind a namespace, and of it without one that is written as a part of it.
std::vector<std::string> readings_of(std::string_view name) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  name.remove_prefix(static_cast<std::size_t>(std::find_if(name.begin(), name.end(), is_part) - name.begin()));
  name = name.substr(0, name.find_first_of(" \t\r\n<(\"'`"));
  std::string_view last = name.substr(0, name.find_last_not_of(":0123456789") + 1);  // "functions.f:0"
  for (const std::string_view separator : {".", "/", ":", "__"}) {
    const auto at = last.rfind(separator);
    if (at != std::string_view::npos) last.remove_prefix(at + separator.size());
  }
  constexpr std::string_view kFunctions = "functions_";
  const auto bare = name.starts_with(kFunctions) ? name.substr(kFunctions.size()) : name;
  return {lower_letters_of(name), lower_letters_of(last), lower_letters_of(bare)};
}

}  // namespace

std::string meant_name(const std::string& name, const std::vector<model::ToolSpec>& offered) {
  const auto readings = readings_of(name);
  for (const auto& tool : offered) {
    const auto letters = lower_letters_of(tool.name);
    if (tool.name == name) return name;
    if (std::any_of(readings.begin(), readings.end(),
                    [&](const std::string& said) { return said == letters || said == letters + letters; }))
      return tool.name;
  }
  return name;
}

std::vector<model::ToolSpec> tool_specs(const std::vector<jobs::Tool>& offer) {
  std::vector<model::ToolSpec> specs;
  for (const auto tool : offer) specs.push_back(spec_of(tool));
  return specs;
}

DecodedCall decode_call(const model::ToolCall& call, const std::vector<model::ToolSpec>& offered) {
  DecodedCall decoded;
  decoded.tool = tool_of(call.name, offered);
  if (!decoded.tool) {
    decoded.problem = fmt::format("unknown tool '{}' (there are: {})", elide_middle(to_valid_utf8(call.name), 64),
                                  fmt::join(names_of(offered), ", "));
    return decoded;
  }
  const auto spec =
      std::find_if(offered.begin(), offered.end(), [&](const auto& tool) { return tool.name == call.name; });
  const nlohmann::json arguments = arguments_of(call.arguments, Parameters(*spec), decoded);
  if (!arguments.is_object()) {
    decoded.problem = "the arguments are no JSON object";
    return decoded;
  }
  read_arguments(arguments, decoded);
  return decoded;
}

}  // namespace nkigrid::agent
