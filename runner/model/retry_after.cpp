#include "runner/model/retry_after.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace nkigrid::model {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr std::array<Unit, 17> kUnits = {{{"", 1},
                                          {"s", 1},
                                          {"ms", 1e-3},
                                          {"us", 1e-6},
                                          {"µs", 1e-6},
                                          {"ns", 1e-9},
                                          {"m", 60},
                                          {"h", 3600},
                                          {"d", 86400},
                                          {"sec", 1},
                                          {"second", 1},
                                          {"seconds", 1},
                                          {"milliseconds", 1e-3},
                                          {"min", 60},
                                          {"minute", 60},
                                          {"minutes", 60},
                                          {"hours", 3600}}};

std::optional<double> unit_seconds(std::string_view name) {
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& known) { return known.name == name; });
  return unit == kUnits.end() ? std::nullopt : std::optional(unit->seconds);
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0; }

/// A list's largest member: of a header that came twice, the longer wait is the safe one.
std::optional<Seconds> longest_span(std::string_view list) {
  std::optional<Seconds> longest;
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    const auto span = parse_span(list.substr(0, end));
    if (!span) return std::nullopt;
    longest = std::max(longest.value_or(Seconds(0)), *span);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return longest;
}

/// The number behind "reset=" or ";t=" of the one header that tells all of a window.
std::optional<Seconds> window_of(const Headers& headers) {
  const auto header = headers.find("ratelimit");
  if (header == headers.end()) return std::nullopt;
  for (const std::string_view key : {"reset=", ";t=", "; t="}) {
    const auto at = header->second.find(key);
    if (at == std::string::npos) continue;
    const auto rest = std::string_view(header->second).substr(at + key.size());
    return parse_span(rest.substr(0, rest.find_first_of(",; ")));
  }
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
  if (!until) return longest_span(value);
  const auto date = headers.find("date");
  if (date == headers.end()) return std::nullopt;
  const auto now = parse_instant(date->second);
  if (!now) return std::nullopt;
  return Seconds(std::max(0.0, *until - *now));
}

bool is_reset_window(std::string_view name) {
  const bool limits =
      name.find("ratelimit") != std::string_view::npos || name.find("rate-limit") != std::string_view::npos;
  return limits && name.find("reset") != std::string_view::npos;
}

}  // namespace

std::optional<Seconds> parse_span(std::string_view text) {
  double total = 0;
  std::size_t i = 0;
  const auto skip_spaces = [&] {
    while (i < text.size() && text[i] == ' ') ++i;
  };
  skip_spaces();
  if (i == text.size()) return std::nullopt;
  while (i < text.size()) {
    const std::string rest(text.substr(i));
    char* end = nullptr;
    if (std::isdigit(static_cast<unsigned char>(rest[0])) == 0) return std::nullopt;
    const double number = std::strtod(rest.c_str(), &end);
    i += static_cast<std::size_t>(end - rest.c_str());
    skip_spaces();
    std::size_t stop = i;
    while (stop < text.size() && is_letter(text[stop])) ++stop;
    const auto unit = unit_seconds(text.substr(i, stop - i));
    if (!unit || (stop == i && stop != text.size())) return std::nullopt;
    total += number * *unit;
    i = stop;
    skip_spaces();
  }
  return std::isfinite(total) ? std::optional(Seconds(total)) : std::nullopt;
}

std::optional<double> parse_instant(const std::string& text) {
  if (const auto time = unix_time(text)) return time;
  std::tm parts{};
  const char* end = nullptr;
  for (const char* form : {"%a, %d %b %Y %H:%M:%S GMT", "%a, %d %b %Y %H:%M:%S UTC", "%a, %d %b %Y %H:%M:%S +0000",
                           "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    parts = {};
    end = ::strptime(text.c_str(), form, &parts);
    if (end != nullptr && *end == '\0') return static_cast<double>(::timegm(&parts));
  }
  parts = {};
  end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  const auto rest = end != nullptr ? rest_of_time(end) : std::nullopt;
  return rest ? std::optional(static_cast<double>(::timegm(&parts)) + *rest) : std::nullopt;
}

std::optional<Seconds> server_wait(const Headers& headers, bool limited) {
  for (const char* name : {"retry-after-ms", "x-ms-retry-after-ms"}) {
    const auto it = headers.find(name);
    const auto span = it != headers.end() ? parse_span(it->second) : std::nullopt;
    if (span) return *span / 1000;
  }
  if (const auto it = headers.find("retry-after"); it != headers.end()) {
    if (const auto wait = wait_of(it->second, headers)) return wait;
  }
  if (!limited) return std::nullopt;
  std::optional<Seconds> longest = window_of(headers);
  for (const auto& [name, value] : headers) {
    if (!is_reset_window(name)) continue;
    if (const auto wait = wait_of(value, headers)) longest = std::max(longest.value_or(Seconds(0)), *wait);
  }
  return longest;
}

std::optional<Seconds> wait_in_words(std::string_view body) {
  for (const std::string_view words :
       {"ry again in ", "etry after ", "\"retryDelay\":\"", "\"retryDelay\": \"", "etry in "}) {
    const auto at = body.find(words);
    if (at == std::string_view::npos) continue;
    const auto rest = body.substr(at + words.size());
    auto end = std::min(rest.find_first_not_of("0123456789.hmsd"), rest.size());
    if (rest.substr(end).starts_with(" second") || rest.substr(end).starts_with(" minute"))
      end = std::min(rest.find_first_of(" .,\"", end + 1), rest.size());
    auto span = rest.substr(0, end);
    while (span.ends_with('.')) span.remove_suffix(1);
    if (const auto wait = parse_span(span)) return wait;
  }
  return std::nullopt;
}

}  // namespace nkigrid::model
