#include "aggregate/tables/count_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "aggregate/statistics/adjustment.hpp"
#include "aggregate/statistics/paired.hpp"
#include "aggregate/tables/claims.hpp"

namespace nkigrid::aggregate {
namespace {

std::string verdict_of(const Range& p, double alpha) {
  return p.high <= alpha ? "always-significant" : p.low > alpha ? "never-significant" : "depends-on-pairing";
}

std::optional<PairRow> compare(const PrintedCell& a, const PrintedCell& b, const std::string& contrast,
                               const std::string& scope, double confidence) {
  const auto in_a = printed_in(a, scope), in_b = printed_in(b, scope);
  if (!in_a || !in_b || in_a->n != in_b->n) return std::nullopt;
  const auto n = static_cast<double>(in_a->n);
  PairRow row{.a = a.cell,
              .b = b.cell,
              .contrast = contrast,
              .scope = scope,
              .family = "counts",
              .tasks = static_cast<std::uint32_t>(in_a->n),
              .difference = in_a->rate() - in_b->rate(),
              .interval = newcombe(in_a->rate(), n, in_b->rate(), n, confidence),
              .test = "mcnemar-bounds",
              .subset = a.subset,
              .p_bounds = mcnemar_bounds(in_a->passed, in_b->passed, in_a->n)};
  row.verdict = verdict_of(*row.p_bounds, 1 - confidence);
  return row;
}

void add_scopes(const PrintedCell& a, const PrintedCell& b, const std::string& contrast, double confidence,
                std::vector<PairRow>& rows) {
  std::vector<std::string> scopes{"all"};
  for (const auto& [scope, level] : a.levels) scopes.push_back(scope);
  for (const auto& scope : scopes) {
    if (auto row = compare(a, b, contrast, scope, confidence)) rows.push_back(std::move(*row));
  }
}

using PairedField = std::string PrintedCell::*;

// Cells that differ in one factor, against the first value listed in the file.
void add_contrasts(const Evidence& evidence, const char* name, PairedField factor, PairedField other,
                   std::vector<PairRow>& rows) {
  const auto& cells = evidence.counts->cells;
  const auto first =
      std::find_if(cells.begin(), cells.end(), [&](const auto& cell) { return !(cell.*factor).empty(); });
  if (first == cells.end()) return;
  for (const auto& a : cells) {
    for (const auto& b : cells) {
      if (b.*factor != (*first).*factor || a.*factor == b.*factor || (a.*factor).empty()) continue;
      if (a.subset != b.subset || a.*other != b.*other || a.prompt != b.prompt) continue;
      add_scopes(a, b, fmt::format("{}: {} vs {}", name, a.*factor, b.*factor), evidence.options.confidence, rows);
    }
  }
}

void add_claims(const Evidence& evidence, std::vector<PairRow>& rows) {
  for (const auto& claim : evidence.once(check_claims).rows) {
    if (claim.elsewhere) continue;
    if (auto row = compare(*claim.cell_a, *claim.cell_b, claim.where, claim.scope, evidence.options.confidence))
      rows.push_back(std::move(*row));
  }
}

void drop_repeats(std::vector<PairRow>& rows) {
  std::set<std::tuple<std::string, std::string, std::string, std::string>> seen;
  std::erase_if(rows, [&](const auto& row) { return !seen.insert({row.a, row.b, row.scope, row.subset}).second; });
}

// Holm's p never falls when a p rises, so whatever the pairings it lies between that of all the least p and that of all
// the largest.
void bound_holm(std::vector<PairRow>& rows) {
  std::vector<double> least, largest;
  for (const auto& row : rows) least.push_back(row.p_bounds->low), largest.push_back(row.p_bounds->high);
  const auto low = holm(least, rows.size()), high = holm(largest, rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].p_holm_bounds = Range{low[i], high[i]};
}

std::string p_range_word(const Range& range) { return fmt::format("{} to {}", p_word(range.low), p_word(range.high)); }

}  // namespace

std::vector<PairRow> make_count_pairs(const Evidence& evidence) {
  std::vector<PairRow> rows;
  add_contrasts(evidence, "model", &PrintedCell::model, &PrintedCell::mode, rows);
  add_contrasts(evidence, "mode", &PrintedCell::mode, &PrintedCell::model, rows);
  add_claims(evidence, rows);
  drop_repeats(rows);
  bound_holm(rows);
  return rows;
}

Sheet display_count_pairs(const Evidence& evidence, const std::vector<PairRow>& rows) {
  Sheet sheet{
      .caption = caption_of(evidence, "differences a - b in points from counts"),
      .columns = {{"a"},
                  {"b"},
                  {"subset"},
                  {"scope"},
                  {"tasks", Align::right},
                  {"a - b", Align::right},
                  {"interval"},
                  {"p over all pairings"},
                  {"p Holm"},
                  {"verdict"}},
      .notes = {"p: exact McNemar, least and largest over all ways in which the counts of a row may pair up; the "
                "verdict goes "
                "by it, unadjusted",
                fmt::format(
                    "p Holm: the same adjusted over the {} comparisons of this table: all with their least p, all with "
                    "their largest",
                    rows.size())}};
  for (const auto& row : rows) {
    sheet.rows.push_back({row.a, row.b, dash(row.subset), row.scope, std::to_string(row.tasks), points(row.difference),
                          interval_word(row.interval), p_range_word(*row.p_bounds), p_range_word(*row.p_holm_bounds),
                          row.verdict});
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
