#include "runner/model/retry_after.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
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

/// Unix time of a bare number, in whatever part of a second it counts: before the year 5138 it has at most 11 digits in
/// seconds. Nothing for less than 10^9 (2001), which is a span: 31 years of waiting are none.
std::optional<double> unix_time(const std::string& text) {
  char* end = nullptr;
  double number = std::isdigit(static_cast<unsigned char>(text[0])) != 0 ? std::strtod(text.c_str(), &end) : 0;
  if (number < 1e9 || *end != '\0' || !std::isfinite(number)) return std::nullopt;
  while (number >= 1e11) number /= 1000;
  return number;
}

/// What stands behind the seconds of an RFC 3339 time: ".25Z", "+02:00". @returns what it adds to Unix time in UTC
std::optional<double> rest_of_time(const char* text) {
  char* end = const_cast<char*>(text);
  const double fraction = *text == '.' ? std::strtod(text, &end) : 0;
  const std::string zone(end);
  if (zone == "Z" || zone == "z") return fraction;
  int hours = 0, minutes = 0, length = 0;
  const bool read = std::sscanf(zone.c_str(), "%*1[+-]%2d:%2d%n", &hours, &minutes, &length) == 2;
  if (!read || static_cast<std::size_t>(length) != zone.size()) return std::nullopt;
  return fraction - (zone[0] == '-' ? -1 : 1) * (3600.0 * hours + 60.0 * minutes);
}

/// Of a span or an instant; instants count from the reply's date.
std::optional<Seconds> wait_of(const std::string& value, const Headers& headers) {
  const auto until = parse_instant(value);
  if (!until) return parse_span(value);
  const auto date = headers.find("date");
  if (date == headers.end()) return std::nullopt;
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
  if (const auto time = unix_time(text)) return time;
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end != nullptr && *end == '\0') return static_cast<double>(::timegm(&parts));
  parts = {};
  end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  const auto rest = end != nullptr ? rest_of_time(end) : std::nullopt;
  return rest ? std::optional(static_cast<double>(::timegm(&parts)) + *rest) : std::nullopt;
}

std::optional<Seconds> server_wait(const Headers& headers, bool limited) {
  if (const auto it = headers.find("retry-after-ms"); it != headers.end()) {
    if (const auto span = parse_span(it->second)) return *span / 1000;
  }
  if (const auto it = headers.find("retry-after"); it != headers.end()) {
    if (const auto wait = wait_of(it->second, headers)) return wait;
  }
  std::optional<Seconds> longest;
  if (!limited) return longest;
  for (const auto& [name, value] : headers) {
    if (!is_reset_window(name)) continue;
    if (const auto wait = wait_of(value, headers)) longest = std::max(longest.value_or(Seconds(0)), *wait);
  }
  return longest;
}

}  // namespace nkigrid::model
