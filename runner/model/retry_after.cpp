#include "runner/model/retry_after.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <ctime>

namespace nkigrid::model {
namespace {

std::optional<double> unit_seconds(std::string_view unit) {
  if (unit == "ms") return 1e-3;
  if (unit == "s" || unit.empty()) return 1.0;
  if (unit == "m") return 60.0;
  if (unit == "h") return 3600.0;
  if (unit == "d") return 86400.0;
  return std::nullopt;
}

/// Of a span or an instant; instants count from the reply's date.
std::optional<Seconds> wait_of(const std::string& value, const Headers& headers) {
  if (const auto span = parse_span(value)) return span;
  const auto until = parse_instant(value);
  const auto date = headers.find("date");
  if (!until || date == headers.end()) return std::nullopt;
  const auto now = parse_instant(date->second);
  if (!now) return std::nullopt;
  return Seconds(std::max(0.0, *until - *now));
}

bool is_reset_window(std::string_view name) {
  return name.find("ratelimit") != std::string_view::npos && name.find("reset") != std::string_view::npos;
}

}  // namespace

std::optional<Seconds> parse_span(std::string_view text) {
  double total = 0;
  std::size_t i = 0;
  if (text.empty()) return std::nullopt;
  while (i < text.size()) {
    const std::string rest(text.substr(i));
    char* end = nullptr;
    if (std::isdigit(static_cast<unsigned char>(rest[0])) == 0) return std::nullopt;
    const double number = std::strtod(rest.c_str(), &end);
    i += static_cast<std::size_t>(end - rest.c_str());
    std::size_t stop = i;
    while (stop < text.size() && std::isalpha(static_cast<unsigned char>(text[stop])) != 0) ++stop;
    const auto unit = unit_seconds(text.substr(i, stop - i));
    if (!unit || (stop == i && stop != text.size())) return std::nullopt;
    total += number * *unit;
    i = stop;
  }
  return std::isfinite(total) ? std::optional(Seconds(total)) : std::nullopt;
}

std::optional<double> parse_instant(const std::string& text) {
  for (const char* form : {"%a, %d %b %Y %H:%M:%S GMT", "%Y-%m-%dT%H:%M:%SZ"}) {
    std::tm parts{};
    const char* end = ::strptime(text.c_str(), form, &parts);
    if (end != nullptr && *end == '\0') return static_cast<double>(::timegm(&parts));
  }
  return std::nullopt;
}

std::optional<Seconds> server_wait(const Headers& headers) {
  if (const auto it = headers.find("retry-after-ms"); it != headers.end()) {
    if (const auto span = parse_span(it->second)) return *span / 1000;
  }
  if (const auto it = headers.find("retry-after"); it != headers.end()) {
    if (const auto wait = wait_of(it->second, headers)) return wait;
  }
  std::optional<Seconds> longest;
  for (const auto& [name, value] : headers) {
    if (!is_reset_window(name)) continue;
    if (const auto wait = wait_of(value, headers)) longest = std::max(longest.value_or(Seconds(0)), *wait);
  }
  return longest;
}

}  // namespace nkigrid::model
