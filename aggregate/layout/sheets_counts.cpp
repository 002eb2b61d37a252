#include <fmt/format.h>

#include <algorithm>

#include "aggregate/layout/sheets.hpp"

namespace nkigrid::aggregate {

Sheet display_bounds(const Tables& tables) {
  Sheet sheet{
      "pairs",
      fmt::format("{}: differences a - b in points from counts, {:g} % intervals", tables.run, tables.level * 100),
      {{"a"},
       {"b"},
       {"subset"},
       {"scope"},
       {"tasks", Align::right},
       {"a - b", Align::right},
       {"interval"},
       {"p over all pairings"},
       {"p Holm"},
       {"verdict"}},
      {},
      {"p: exact McNemar, least and largest over all ways in which the counts of a row may pair up; the verdict goes "
       "by it, unadjusted",
       fmt::format("p Holm: the same adjusted over the {} comparisons of this table: all with their least p, all with "
                   "their largest",
                   tables.pairs.size())}};
  for (const auto& pair : tables.pairs) {
    sheet.rows.push_back({pair.a, pair.b, pair.subset.empty() ? "-" : pair.subset, pair.scope,
                          std::to_string(pair.tasks), points(*pair.difference),
                          fmt::format("{} {}", bracket(pair.interval->low, pair.interval->high), pair.interval->method),
                          fmt::format("{} to {}", p_word(pair.p_bounds->low), p_word(pair.p_bounds->high)),
                          fmt::format("{} to {}", p_word(pair.p_holm_bounds->low), p_word(pair.p_holm_bounds->high)),
                          pair.verdict});
  }
  return sheet;
}

Sheet display_claims(const Tables& tables) {
  Sheet sheet{
      "claims",
      fmt::format("{}: printed numbers against the counts, {:g} % intervals", tables.run, tables.level * 100),
      {{"where"},
       {"kind"},
       {"a"},
       {"b"},
       {"subset"},
       {"scope"},
       {"printed", Align::right},
       {"counts say", Align::right},
       {"interval"},
       {"fits"}},
      {},
      {"numbers in points (difference) or percent; intervals: unpaired, from the Wilson intervals of both rates",
       "a claim is held against every subset that has both cells; on another: it fits the one that it names"}};
  const auto fits_elsewhere = [&](const ClaimRow& claim) {
    return std::any_of(tables.claims.begin(), tables.claims.end(), [&](const ClaimRow& other) {
      return other.fits && other.where == claim.where && other.kind == claim.kind && other.a == claim.a &&
             other.b == claim.b && other.scope == claim.scope;
    });
  };
  for (const auto& claim : tables.claims) {
    sheet.rows.push_back({claim.where, claim.kind, claim.a, claim.b, claim.subset.empty() ? "-" : claim.subset,
                          claim.scope, claim.printed, fmt::format("{:.2f}", 100 * claim.value),
                          interval_word(claim.interval),
                          claim.fits              ? "yes"
                          : fits_elsewhere(claim) ? "on another"
                                                  : "no"});
  }
  return sheet;
}

Sheet data_claims(const Tables& tables) {
  Sheet sheet{"claims",
              "",
              data_columns({"where", "kind", "a", "b", "subset", "scope", "printed", "#value", "#fits",
                            "interval_method", "#interval_low", "#interval_high"}),
              {},
              {}};
  for (const auto& claim : tables.claims) {
    sheet.rows.push_back({claim.where, claim.kind, claim.a, claim.b, claim.subset, claim.scope, claim.printed,
                          fraction(claim.value), claim.fits ? "1" : "0"});
    push_interval(sheet.rows.back(), claim.interval);
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
