#include "aggregate/tables/json_values.hpp"

#include <nlohmann/json.hpp>

#include "aggregate/layout/numbers.hpp"

namespace nkigrid::aggregate {

using Json = nlohmann::ordered_json;

Json number_json(const std::optional<double>& value) { return value ? Json(rounded(*value)) : Json(nullptr); }

Json p_json(const std::optional<double>& p) { return p ? Json(rounded_significant(*p)) : Json(nullptr); }

Json text_json(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json range_json(const std::optional<Range>& range) {
  if (!range) return nullptr;
  return {{"low", rounded(range->low)}, {"high", rounded(range->high)}};
}

Json interval_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"method", interval->method}, {"low", rounded(interval->low)}, {"high", rounded(interval->high)}};
}

}  // namespace nkigrid::aggregate
