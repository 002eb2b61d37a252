#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "aggregate/sheets.hpp"

namespace nkigrid::aggregate {
std::string p_word(const std::optional<double>& p) {
  if (!p) return "-";
  return *p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", *p);
}

std::string points(double difference) { return fmt::format("{:+.1f}", rounded(difference) * 100 + 0.0); }

double rounded_p(double p) noexcept { return std::strtod(fmt::format("{:.6g}", p).c_str(), nullptr); }

Sheet display_pairs(const Tables& tables) {
  Sheet sheet{"pairs",
              fmt::format("{}: paired differences a - b in points, rule {}, {:g} % intervals", tables.run,
                          to_string(tables.rule), tables.level * 100),
              {{"a"},
               {"b"},
               {"scope"},
               {"tasks", Align::right},
               {"a - b", Align::right},
               {"interval"},
               {"test"},
               {"p", Align::right},
               {"p Holm", Align::right},
               {"verdict"}},
              {},
              {}};
  for (const auto& pair : tables.pairs) {
    sheet.rows.push_back(
        {pair.a, pair.b, pair.scope, std::to_string(pair.tasks),
         pair.difference ? points(*pair.difference) : "-",
         pair.interval
             ? fmt::format("{} {}", bracket(pair.interval->low, pair.interval->high), pair.interval->method)
             : "-",
         pair.test, p_word(pair.p), p_word(pair.p_holm),
         pair.verdict.empty() ? fmt::format("{} outstanding", pair.outstanding) : pair.verdict});
  }
  sheet.notes.push_back(
      fmt::format("p Holm: adjusted over the {} comparisons of this table", tables.pairs.size()));
  return sheet;
}

Sheet data_pairs(const Tables& tables) {
  Sheet sheet{"pairs", "", {}, {}, {}};
  for (const char* name :
       {"a", "b", "scope", "family", "contrast", "tasks", "outstanding", "difference", "interval_method",
        "interval_low", "interval_high", "test", "p", "p_holm", "verdict", "p_low", "p_high", "subset"}) {
    sheet.columns.push_back({name});
  }
  const auto p_field = [](const std::optional<double>& p) {
    return p ? fmt::format("{}", rounded_p(*p)) : "";
  };
  for (const auto& pair : tables.pairs) {
    sheet.rows.push_back(
        {pair.a, pair.b, pair.scope, pair.family, pair.contrast, std::to_string(pair.tasks),
         std::to_string(pair.outstanding), pair.difference ? fraction(*pair.difference) : "",
         pair.interval ? pair.interval->method : "", pair.interval ? fraction(pair.interval->low) : "",
         pair.interval ? fraction(pair.interval->high) : "", pair.test, p_field(pair.p), p_field(pair.p_holm),
         pair.verdict, pair.p_bounds ? p_field(pair.p_bounds->low) : "",
         pair.p_bounds ? p_field(pair.p_bounds->high) : "", pair.subset});
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
