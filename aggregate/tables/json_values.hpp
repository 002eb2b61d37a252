#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "aggregate/statistics/intervals.hpp"

/// What many tables hold, as JSON: numbers with six decimals, p with six significant digits; null for none.
namespace nkigrid::aggregate {

nlohmann::ordered_json number_json(const std::optional<double>& value);
nlohmann::ordered_json p_json(const std::optional<double>& p);
nlohmann::ordered_json text_json(const std::string& text);  ///< null for an empty one
nlohmann::ordered_json range_json(const std::optional<Range>& range);
nlohmann::ordered_json interval_json(const std::optional<Interval>& interval);

}  // namespace nkigrid::aggregate
