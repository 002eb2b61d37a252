#include "runner/model/json_writer.hpp"

#include <iterator>

#include <fmt/format.h>

#include "jobs/base/text.hpp"

namespace nkigrid::model {
namespace {

bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  if (const auto at = kNamed.find(c); at != std::string_view::npos) {
    out += '\\';
    out += kLetters[at];
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  const std::string valid = to_valid_utf8(text);
  out += '"';
  for (std::size_t i = 0; i < valid.size();) {
    const auto begin = i;
    while (i < valid.size() && is_plain(valid[i])) ++i;
    out.append(valid, begin, i - begin);
    if (i < valid.size()) append_escaped(out, valid[i++]);
  }
  out += '"';
}

void JsonObject::begin(std::string_view key) {
  if (!first_) out_ += ',';
  first_ = false;
  append_json_string(out_, key);
  out_ += ':';
}

JsonObject& JsonObject::text(std::string_view key, std::string_view value) {
  begin(key);
  append_json_string(out_, value);
  return *this;
}

JsonObject& JsonObject::number(std::string_view key, std::uint64_t value) {
  begin(key);
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
  begin(key);
  out_ += json;
  return *this;
}

}  // namespace nkigrid::model
