#include "runner/model/json_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "jobs/base/json_depth.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::model {
namespace {

/// The code unit of a `\uXXXX` escape at `at`, if there is one.
std::optional<unsigned> code_unit(std::string_view text, std::size_t at) {
  if (text.size() < at + 6 || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned value = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return value;
}

bool is_high(unsigned unit) { return unit >= 0xd800 && unit <= 0xdbff; }
bool is_low(unsigned unit) { return unit >= 0xdc00 && unit <= 0xdfff; }

std::uint32_t count_replacements(std::string_view text) {
  std::uint32_t n = 0;
  for (std::size_t at = text.find("\xef\xbf\xbd"); at != std::string_view::npos; at = text.find("\xef\xbf\xbd", at + 3))
    ++n;
  return n;
}

/// Python's and JSON's own; others stand for themselves in Python, and so they do here.
constexpr std::string_view kEscapes = "\"\\/'abfnrtuvxNU01234567\n";

/// The quotes that a literal begins with: three in Python's long form, else one.
std::string_view quotes_at(std::string_view text, std::size_t begin) {
  const bool is_long = text.substr(begin, 3) == std::string(3, text[begin]);
  return text.substr(begin, is_long ? 3 : 1);
}

/// Writes a string literal of JSON or Python as one of JSON. @param raw a backslash stands for itself
/// @returns where it ends, after its quotes
std::size_t relax_string(std::string_view text, std::size_t begin, std::string& out, bool raw = false) {
  const std::string_view quotes = quotes_at(text, begin);
  const std::size_t end = string_end(text, begin);
  const bool closed = end >= begin + 2 * quotes.size() && text.substr(0, end).ends_with(quotes);
  const std::size_t stop = closed ? end - quotes.size() : text.size();
  out += '"';
  for (std::size_t i = begin + quotes.size(); i < stop; ++i) {
    const char c = text[i];
    if (c == '\\' && raw) {
      out += "\\\\";
    } else if (c == '\\' && i + 1 < stop) {
      const char next = text[++i];
      if (kEscapes.find(next) == std::string_view::npos)
        out += "\\\\";
      else if (next != '\'')
        out += c;  // \' is an escape of Python alone
      out += next;
    } else if (c == '"') {
      out += "\\\"";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : " ";
    } else {
      out += c;
    }
  }
  out += '"';
  return end;
}

/// What may stand around an object and says nothing.
void strip_front(std::string_view& text) {
  constexpr std::array<std::string_view, 5> kLabels = {"```json", "```", "json", "{}", "null"};
  for (bool found = true; found;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    found = false;
    for (const auto label : kLabels) {
      const auto rest = text.substr(std::min(label.size(), text.size()));
      const auto next = rest.find_first_not_of(" \t\r\n");
      if (!text.starts_with(label) || next == std::string_view::npos || rest[next] != '{') continue;
      text = rest;
      found = true;
    }
  }
}

bool is_empty_behind(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.front() == '<' ? text.find('>') : text.find_first_not_of(" \t\r\n}]`");
    if (text.front() == '<' && end == std::string_view::npos) return false;
    const auto length = text.front() == '<' ? end + 1 : std::min(end, text.size());
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// True where a comma is one too many: before a closing bracket or another comma, spaces apart.
bool says_nothing_next(std::string_view text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(" \t\r\n", at);
  return next != std::string_view::npos && (text[next] == '}' || text[next] == ']' || text[next] == ',');
}

/// Writes a word that stands outside of strings: a key without quotes, or without the first of them; Python's literals;
/// the prefix of one of its strings. @returns where it ends
std::size_t relax_word(std::string_view text, std::size_t begin, std::string& out) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kWords = {
      {{"True", "true"}, {"False", "false"}, {"None", "null"}}};
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  const auto word = text.substr(begin, end - begin);
  const bool quote_next = end < text.size() && (text[end] == '"' || text[end] == '\'');
  if (quote_next && (word == "r" || word == "R")) return relax_string(text, end, out, true);
  if (quote_next && (word == "u" || word == "U")) return end;
  const std::size_t closed = quote_next && text[end] == '"' ? end + 1 : end;
  const std::size_t next = text.find_first_not_of(" \t\r\n", closed);
  if (next != std::string_view::npos && text[next] == ':') {
    out.append("\"").append(word).append("\"");
    return closed;
  }
  const auto known = std::find_if(kWords.begin(), kWords.end(), [&](const auto& pair) { return word == pair.first; });
  out += known == kWords.end() ? word : known->second;
  return end;
}

/// The object in double braces, and in how many else: `{{"a": 1}}`.
std::string_view without_outer_braces(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n"), last = text.find_last_not_of(" \t\r\n");
  if (first == std::string_view::npos || last < first + 3) return "";
  const auto whole = text.substr(first, last + 1 - first);
  return whole.starts_with("{{") && whole.ends_with("}}") ? whole.substr(1, whole.size() - 2) : std::string_view();
}

/// The one object among other words, in a list of its own, or the one that is said twice. "" where there are several.
std::string_view only_object(std::string_view text) {
  const std::size_t open = text.find('{');
  const std::size_t end = open == std::string_view::npos ? open : object_end(text, open);
  if (end == std::string_view::npos) return "";
  const auto object = text.substr(open, end - open);
  auto rest = text.substr(end);
  if (rest.starts_with(object)) rest.remove_prefix(object.size());
  return rest.find('{') == std::string_view::npos ? object : std::string_view();
}

}  // namespace

nlohmann::json parse_json(std::string_view text) {
  constexpr std::ptrdiff_t kMostValues = 1 << 20;
  const auto begins_value = [](char c) { return c == ',' || c == ':' || c == '[' || c == '{'; };
  if (std::count_if(text.begin(), text.end(), begins_value) > kMostValues)
    return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(shallow_part(text), nullptr, false);
}

std::size_t string_end(std::string_view text, std::size_t begin) {
  const std::string_view quotes = quotes_at(text, begin);
  for (std::size_t i = begin + quotes.size(); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text.substr(i).starts_with(quotes)) {
      return i + quotes.size();
    }
  }
  return text.size();
}

std::size_t object_end(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = string_end(text, i);
      continue;
    }
    ++i;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

std::string_view sole_object(std::string_view text) {
  strip_front(text);
  if (!text.starts_with('{')) return "";
  const std::size_t end = object_end(text, 0);
  if (end == std::string_view::npos || !is_empty_behind(text.substr(end))) return "";
  return text.substr(0, end);
}

std::string closed_object(std::string_view text) {
  strip_front(text);
  if (!text.starts_with('{')) return "";
  std::size_t depth = 0, i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const std::size_t end = string_end(text, i);
      if (end == text.size() && (end == i + 1 || text.back() != c)) return "";
      i = end;
      continue;
    }
    ++i;
    if (c == '[' || (c == '}' && depth == 0)) return "";
    depth += c == '{' ? 1 : 0;
    depth -= c == '}' ? 1 : 0;
  }
  return depth == 0 ? "" : std::string(text) + std::string(depth, '}');
}

std::string relaxed_json(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto rest = text.substr(i);
    if (text[i] == '"' || text[i] == '\'') {
      i = relax_string(text, i, out);
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_') {
      i = relax_word(text, i, out);
    } else if (rest.starts_with("//") || text[i] == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (rest.starts_with("/*")) {
      const auto end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      if (text[i] != ',' || !says_nothing_next(text, i + 1)) out += text[i];
      ++i;
    }
  }
  return out;
}

nlohmann::json mended_object(std::string_view text) {
  const std::string_view object = sole_object(text);
  for (const std::string& tried : {relaxed_json(text), std::string(object), relaxed_json(object),
                                   relaxed_json(closed_object(text)), relaxed_json(only_object(text))}) {
    nlohmann::json json = parse_json(tried);
    if (json.is_object()) return json;
  }
  const auto inner = without_outer_braces(text);
  return inner.empty() ? nlohmann::json() : mended_object(inner);
}

MendedJson mend_json(std::string_view raw) {
  if (raw.starts_with("\xef\xbb\xbf")) raw.remove_prefix(3);
  const std::string text = to_valid_utf8(raw);
  MendedJson result;
  if (text != raw) result.mended = count_replacements(text) - count_replacements(raw);
  result.text.reserve(text.size());
  // A backslash stands only inside strings in JSON, so pairs of characters can be walked without parsing.
  for (std::size_t i = 0; i < text.size();) {
    const auto plain = std::min(text.find('\\', i), text.size());
    result.text.append(text, i, plain - i);
    if ((i = plain) == text.size()) break;
    const auto unit = code_unit(text, i);
    const auto next = unit ? code_unit(text, i + 6) : std::nullopt;
    if (unit && is_high(*unit) && next && is_low(*next)) {
      result.text.append(text, i, 12);
      i += 12;
    } else if (unit && (is_high(*unit) || is_low(*unit))) {
      result.text += "\\ufffd";
      ++result.mended;
      i += 6;
    } else {
      result.text.append(text, i, 2);
      i += 2;
    }
  }
  return result;
}

}  // namespace nkigrid::model
