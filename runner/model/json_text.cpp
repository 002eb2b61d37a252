#include "runner/model/json_text.hpp"

#include <algorithm>
#include <array>
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

/// Writes a string literal of JSON or Python as one of JSON. @returns where it ends, after its quote
std::size_t relax_string(std::string_view text, std::size_t begin, std::string& out) {
  const char quote = text[begin];
  out += '"';
  std::size_t i = begin + 1;
  for (; i < text.size() && text[i] != quote; ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      const char next = text[++i];
      if (next != '\'') out += c;  // \' is an escape of Python alone
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
  return std::min(i + 1, text.size());
}

/// True before a closing bracket, spaces apart.
bool closes_next(std::string_view text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(" \t\r\n", at);
  return next != std::string_view::npos && (text[next] == '}' || text[next] == ']');
}

}  // namespace

nlohmann::json parse_json(std::string_view text) { return nlohmann::json::parse(shallow_part(text), nullptr, false); }

std::string relaxed_json(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kWords = {
      {{"True", "true"}, {"False", "false"}, {"None", "null"}}};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"' || text[i] == '\'') {
      i = relax_string(text, i, out);
      continue;
    }
    const auto word = std::find_if(kWords.begin(), kWords.end(),
                                   [&](const auto& pair) { return text.substr(i).starts_with(pair.first); });
    if (word != kWords.end()) {
      out += word->second;
      i += word->first.size();
      continue;
    }
    if (text[i] != ',' || !closes_next(text, i + 1)) out += text[i];
    ++i;
  }
  return out;
}

MendedJson mend_json(std::string_view raw) {
  if (raw.starts_with("\xef\xbb\xbf")) raw.remove_prefix(3);
  const std::string text = to_valid_utf8(raw);
  MendedJson result;
  if (text != raw) result.mended = count_replacements(text) - count_replacements(raw);
  result.text.reserve(text.size());
  // A backslash stands only inside strings in JSON, so pairs of characters can be walked without parsing.
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      result.text += text[i++];
      continue;
    }
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
