#include "aggregate/layout/numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace nkigrid::aggregate {

double rounded(double value) noexcept { return std::round(value * 1e6) / 1e6 + 0.0; }

double rounded_significant(double value) noexcept { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

std::string fraction(double value) { return fmt::format("{}", rounded(value)); }

std::string fraction(const std::optional<double>& value) { return value ? fraction(*value) : ""; }

namespace {

// What rounds to 0 has no sign.
std::string without_sign_of_zero(std::string text) {
  if (text.find_first_of("123456789") == std::string::npos && (text[0] == '-' || text[0] == '+')) text.erase(0, 1);
  return text;
}

}  // namespace

std::string percent(double value) { return without_sign_of_zero(fmt::format("{:.1f}", rounded(value) * 100)); }

std::string bracket(double low, double high) { return fmt::format("[{}, {}]", percent(low), percent(high)); }

std::string points(double difference) {
  return without_sign_of_zero(fmt::format("{:+.1f}", rounded(difference) * 100));
}

std::string points(const std::optional<double>& difference) { return difference ? points(*difference) : "-"; }

}  // namespace nkigrid::aggregate
