#pragma once

#include <optional>
#include <string>

namespace nkigrid::aggregate {

/// Rounds to six decimals, so that a number prints the same everywhere; -0 becomes 0.
double rounded(double value) noexcept;

/// Rounds to six significant digits: small ones do not become 0.
double rounded_significant(double value) noexcept;

/// For programs: a fraction with at most six decimals and no trailing zeros, "0.193333"; empty for none.
std::string fraction(double value);
std::string fraction(const std::optional<double>& value);

/// For people: percent with one decimal, "19.3"; two of them, "[13.8, 26.4]"; and a difference, "+1.3", "-" for none.
/// What rounds to 0 is "0.0".
std::string percent(double value);
std::string bracket(double low, double high);
std::string points(double difference);
std::string points(const std::optional<double>& difference);

}  // namespace nkigrid::aggregate
