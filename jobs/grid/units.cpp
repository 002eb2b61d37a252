#include "jobs/grid/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace nkigrid::jobs {
namespace {

struct Quantity {
  double number = 0;
  std::string_view unit;
};

/// `NUMBER UNIT` with any spaces between; the number is digits with at most one point.
std::optional<Quantity> split_quantity(std::string_view text) {
  Quantity quantity;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), quantity.number, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  quantity.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!quantity.unit.empty() && quantity.unit.front() == ' ') quantity.unit.remove_prefix(1);
  return quantity;
}

/// One part of a clock form: one to `max_digits` digits.
std::optional<unsigned> clock_part(std::string_view text, std::size_t max_digits) {
  unsigned value = 0;
  if (text.empty() || text.size() > max_digits) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `[D-]HH:MM:SS`, as Slurm writes limits.
std::optional<Seconds> parse_clock(std::string_view text) {
  unsigned days = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto part = clock_part(text.substr(0, dash), 4);
    if (!part) return std::nullopt;
    days = *part;
    text.remove_prefix(dash + 1);
  }
  const auto first = text.find(':');
  const auto second = first == std::string_view::npos ? first : text.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto hours = clock_part(text.substr(0, first), 4);
  const auto minutes = clock_part(text.substr(first + 1, second - first - 1), 2);
  const auto seconds = clock_part(text.substr(second + 1), 2);
  if (!hours || !minutes || !seconds || *minutes > 59 || *seconds > 59) return std::nullopt;
  return Seconds(86400.0 * days + 3600.0 * *hours + 60.0 * *minutes + *seconds);
}

}  // namespace

std::optional<Seconds> parse_duration(std::string_view text) {
  if (const auto clock = parse_clock(text)) return clock;
  const auto quantity = split_quantity(text);
  if (!quantity) return std::nullopt;
  static constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}}};
  for (const auto& [unit, seconds] : kUnits) {
    if (quantity->unit == unit) return Seconds(quantity->number * seconds);
  }
  return std::nullopt;
}

std::string format_duration(Seconds duration) {
  const double seconds = duration.count();
  if (seconds > 0 && std::fmod(seconds, 3600) == 0) return fmt::format("{:.0f} h", seconds / 3600);
  if (seconds > 0 && std::fmod(seconds, 60) == 0) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{} s", seconds);
}

std::optional<std::uint64_t> parse_size_bytes(std::string_view text) {
  const auto quantity = split_quantity(text);
  if (!quantity) return std::nullopt;
  static constexpr std::array<std::pair<std::string_view, double>, 13> kUnits = {{{"B", 1},
                                                                                  {"kB", 1e3},
                                                                                  {"MB", 1e6},
                                                                                  {"GB", 1e9},
                                                                                  {"TB", 1e12},
                                                                                  {"KiB", 0x1p10},
                                                                                  {"MiB", 0x1p20},
                                                                                  {"GiB", 0x1p30},
                                                                                  {"TiB", 0x1p40},
                                                                                  {"K", 0x1p10},
                                                                                  {"M", 0x1p20},
                                                                                  {"G", 0x1p30},
                                                                                  {"T", 0x1p40}}};
  for (const auto& [unit, bytes] : kUnits) {
    const double size = quantity->number * bytes;
    if (quantity->unit == unit && size < 0x1p63) return static_cast<std::uint64_t>(size);
  }
  return std::nullopt;
}

}  // namespace nkigrid::jobs
