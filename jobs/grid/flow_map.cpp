#include "jobs/grid/flow_map.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/core.h>

#include "jobs/grid/units.hpp"

namespace nkigrid::jobs {

std::string yaml_scalar(std::string_view text) {
  static const std::set<std::string_view> kWords = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool plain = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
                     kWords.count(lower) == 0 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
                     });
  if (plain) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string flow_list(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + yaml_scalar(word);
  return "[" + out + "]";
}

FlowMap& FlowMap::raw(std::string_view key, std::string_view value) {
  text_ += fmt::format("{}{}: {}", text_.empty() ? "" : ", ", key, value);
  return *this;
}

FlowMap& FlowMap::number(std::string_view key, double value) { return raw(key, fmt::format("{}", value)); }

FlowMap& FlowMap::duration(std::string_view key, Seconds value) { return raw(key, format_duration(value)); }

}  // namespace nkigrid::jobs
