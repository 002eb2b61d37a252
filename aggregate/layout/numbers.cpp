#include "aggregate/layout/numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace nkigrid::aggregate {

double rounded(double value) noexcept { return std::round(value * 1e6) / 1e6 + 0.0; }

double rounded_significant(double value) noexcept { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

std::string fraction(double value) { return fmt::format("{}", rounded(value)); }

std::string fraction(const std::optional<double>& value) { return value ? fraction(*value) : ""; }

std::string percent(double value) { return fmt::format("{:.1f}", rounded(value) * 100 + 0.0); }

std::string bracket(double low, double high) { return fmt::format("[{}, {}]", percent(low), percent(high)); }

std::string points(double difference) { return fmt::format("{:+.1f}", rounded(difference) * 100 + 0.0); }

std::string points(const std::optional<double>& difference) { return difference ? points(*difference) : "-"; }

}  // namespace nkigrid::aggregate
