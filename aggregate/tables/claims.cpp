#include "aggregate/tables/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "aggregate/statistics/relative.hpp"
#include "aggregate/tables/json_values.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

double claimed_value(const std::string& kind, double rate_a, double rate_b) {
  if (kind == "difference") return rate_a - rate_b;
  return kind == "share" ? rate_a / rate_b : (rate_a - rate_b) / rate_b;
}

std::optional<Interval> claimed_interval(const std::string& kind, const PrintedLevel& a, const PrintedLevel& b,
                                         double confidence) {
  const auto n_a = static_cast<double>(a.n), n_b = static_cast<double>(b.n);
  if (kind == "difference") return newcombe(a.rate(), n_a, b.rate(), n_b, confidence);
  auto interval = relative_change(a.rate(), n_a, b.rate(), n_b, confidence).interval;
  if (interval && kind == "share") interval->low += 1, interval->high += 1;
  return interval;
}

bool is_subset(const PrintedCounts& counts, const std::string& scope) {
  return std::any_of(counts.cells.begin(), counts.cells.end(),
                     [&](const auto& cell) { return !cell.subset.empty() && cell.subset == scope; });
}

bool claimed_apart(const PrintedCounts& counts, const Claim& claim, const std::string& subset) {
  return std::any_of(counts.claims.begin(), counts.claims.end(), [&](const auto& other) {
    return other.kind == claim.kind && other.a == claim.a && other.b == claim.b && other.scope == subset;
  });
}

std::string mismatch(const Claim& claim, const ClaimRow& row) {
  const auto what = fmt::format("{}: {} {} {}", claim.where, claim.a,
                                claim.kind == "share"      ? "as a share of"
                                : claim.kind == "relative" ? "relative to"
                                                           : "minus",
                                claim.b);
  if (row.elsewhere)
    return fmt::format("{} is {} on {}, but {:.2f} on {}", what, claim.printed, claim.scope, 100 * row.value,
                       row.subset);
  return fmt::format("{} is printed as {}, but the counts say {:.2f}", what, claim.printed, 100 * row.value);
}

// Holds a claim to one pair of cells; none when they say nothing about it.
std::optional<ClaimRow> check_pair(const PrintedCounts& counts, const Claim& claim, const PrintedCell& a,
                                   const PrintedCell& b, double confidence) {
  const bool named = is_subset(counts, claim.scope), elsewhere = named && claim.scope != a.subset;
  const std::string scope = named ? "all" : claim.scope;
  const auto in_a = printed_in(a, scope), in_b = printed_in(b, scope);
  if (!in_a || !in_b || (claim.kind != "difference" && in_b->passed == 0)) return std::nullopt;
  if (elsewhere && claimed_apart(counts, claim, a.subset)) return std::nullopt;
  ClaimRow row{claim.where, claim.kind, claim.a,       claim.b,
               scope,       a.subset,   claim.printed, claimed_value(claim.kind, in_a->rate(), in_b->rate())};
  row.interval = claimed_interval(claim.kind, *in_a, *in_b, confidence);
  row.fits = printed_fits(claim.printed, 100 * row.value);
  row.elsewhere = elsewhere;
  row.cell_a = &a, row.cell_b = &b;
  return row;
}

void check_claim(const Evidence& evidence, const Claim& claim, CheckedClaims& checked) {
  const auto& counts = *evidence.counts;
  bool seen = false;
  for (const auto& a : counts.cells) {
    for (const auto& b : counts.cells) {
      if (a.cell != claim.a || b.cell != claim.b || a.subset != b.subset) continue;
      auto row = check_pair(counts, claim, a, b, evidence.options.confidence);
      if (!row) continue;
      seen = true;
      if (!row->fits) checked.warnings.push_back(mismatch(claim, *row));
      checked.rows.push_back(std::move(*row));
    }
  }
  if (seen) return;
  checked.warnings.push_back(fmt::format("{}: {} of {} and {} cannot be checked (no subset has both in scope {})",
                                         claim.where, claim.kind, claim.a, claim.b, claim.scope));
}

const std::vector<ClaimRow>& claim_rows(const Evidence& evidence) { return evidence.once(check_claims).rows; }

// One that does not fit here may fit where it was made.
std::string fits_word(const ClaimRow& claim, const std::vector<ClaimRow>& rows) {
  if (claim.fits) return "yes";
  const bool elsewhere = std::any_of(rows.begin(), rows.end(), [&](const ClaimRow& other) {
    return other.fits && other.where == claim.where && other.kind == claim.kind && other.a == claim.a &&
           other.b == claim.b && other.scope == claim.scope;
  });
  return elsewhere ? "on another" : "no";
}

Sheet display_claims(const Evidence& evidence) {
  Sheet sheet{
      .caption = caption_of(evidence, "printed numbers against the counts"),
      .columns = {{"where"},
                  {"kind"},
                  {"a"},
                  {"b"},
                  {"subset"},
                  {"scope"},
                  {"printed", Align::right},
                  {"counts say", Align::right},
                  {"interval"},
                  {"fits"}},
      .notes = {
          "numbers in points (difference) or percent; intervals: unpaired, from the Wilson intervals of both rates",
          "a claim is held against every subset that has both cells; on another: it fits the one that it names"}};
  const auto& rows = claim_rows(evidence);
  for (const auto& claim : rows) {
    sheet.rows.push_back({claim.where, claim.kind, claim.a, claim.b, dash(claim.subset), claim.scope, claim.printed,
                          fmt::format("{:.2f}", 100 * claim.value), interval_word(claim.interval),
                          fits_word(claim, rows)});
  }
  return sheet;
}

Sheet data_claims(const Evidence& evidence) {
  Sheet sheet{.columns = data_columns({"where", "kind", "a", "b", "subset", "scope", "printed", "#value", "#fits",
                                       "interval_method", "#interval_low", "#interval_high"})};
  for (const auto& claim : claim_rows(evidence)) {
    sheet.rows.push_back({claim.where, claim.kind, claim.a, claim.b, claim.subset, claim.scope, claim.printed,
                          fraction(claim.value), claim.fits ? "1" : "0"});
    push_interval(sheet.rows.back(), claim.interval);
  }
  return sheet;
}

nlohmann::ordered_json json_claims(const Evidence& evidence) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& claim : claim_rows(evidence)) {
    rows.push_back({{"where", claim.where},
                    {"kind", claim.kind},
                    {"a", claim.a},
                    {"b", claim.b},
                    {"scope", claim.scope},
                    {"subset", text_json(claim.subset)},
                    {"printed", claim.printed},
                    {"value", number_json(claim.value)},
                    {"interval", interval_json(claim.interval)},
                    {"fits", claim.fits}});
  }
  return rows;
}

std::string why_no_claims(const Evidence&) {
  return "the counts file has no `claims:`; add the numbers that the text prints";
}

}  // namespace

CheckedClaims check_claims(const Evidence& evidence) {
  CheckedClaims checked;
  for (const auto& claim : evidence.counts->claims) check_claim(evidence, claim, checked);
  return checked;
}

Table claims_table() {
  return {.name = "claims",
          .display = display_claims,
          .data = data_claims,
          .why_empty = why_no_claims,
          .from = From::counts,
          .in_document = InDocument::always,
          .json = json_claims};
}

}  // namespace nkigrid::aggregate
