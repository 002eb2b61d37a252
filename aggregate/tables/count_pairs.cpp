#include "aggregate/tables/count_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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
                               const std::string& scope, const std::string& family, double confidence) {
  const auto in_a = printed_in(a, scope), in_b = printed_in(b, scope);
  if (!in_a || !in_b || in_a->n != in_b->n) return std::nullopt;
  const auto n = static_cast<double>(in_a->n);
  return PairRow{.a = a.cell,
                 .b = b.cell,
                 .contrast = contrast,
                 .scope = scope,
                 .family = family,
                 .tasks = static_cast<std::uint32_t>(in_a->n),
                 .difference = in_a->rate() - in_b->rate(),
                 .interval = newcombe(in_a->rate(), n, in_b->rate(), n, confidence),
                 .test = "mcnemar-bounds",
                 .subset = a.subset,
                 .p_bounds = mcnemar_bounds(in_a->passed, in_b->passed, in_a->n)};
}

// A level of two cells that were compared is only looked at, as what --by adds to a run.
void add_scopes(const PrintedCell& a, const PrintedCell& b, const std::string& contrast, double confidence,
                std::vector<PairRow>& rows) {
  if (auto row = compare(a, b, contrast, "all", "contrasts", confidence)) rows.push_back(std::move(*row));
  for (const auto& [scope, level] : a.levels) {
    if (auto row = compare(a, b, contrast, scope, "by-level", confidence)) rows.push_back(std::move(*row));
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
    if (auto row =
            compare(*claim.cell_a, *claim.cell_b, claim.where, claim.scope, "contrasts", evidence.options.confidence))
      rows.push_back(std::move(*row));
  }
}

// Two cells are compared once, whichever is named first: a repeat would be adjusted for itself. A claim of a level
// declares it.
void drop_repeats(std::vector<PairRow>& rows) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, PairRow*> seen;
  std::vector<bool> repeated;
  for (auto& row : rows) {
    const auto [first, is_new] =
        seen.insert({{std::min(row.a, row.b), std::max(row.a, row.b), row.scope, row.subset}, &row});
    repeated.push_back(!is_new);
    if (row.family == "contrasts") first->second->family = row.family;
  }
  std::size_t at = 0;
  std::erase_if(rows, [&](const auto&) { return repeated[at++]; });
}

// Holm's p never falls when a p rises, so whatever the pairings it lies between that of all the least p and that of all
// the largest.
void bound_holm(std::vector<PairRow>& rows, const std::string& family, double alpha) {
  std::vector<PairRow*> own;
  std::vector<double> least, largest;
  for (auto& row : rows) {
    if (row.family != family) continue;
    own.push_back(&row);
    least.push_back(row.p_bounds->low), largest.push_back(row.p_bounds->high);
  }
  const auto low = holm(least, own.size()), high = holm(largest, own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i]->p_holm_bounds = Range{low[i], high[i]};
    own[i]->verdict = verdict_of(*own[i]->p_holm_bounds, alpha);
  }
}

std::string family_note(const std::vector<PairRow>& rows) {
  const auto of_levels =
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.family == "by-level"; });
  const auto declared = static_cast<std::ptrdiff_t>(rows.size()) - of_levels;
  auto note = fmt::format(
      "p Holm: the same adjusted over {} comparisons, all with their least p and all with their largest", declared);
  if (of_levels > 0) note += fmt::format("; the {} of levels apart from them", of_levels);
  return note + "; the verdict goes by it";
}

std::string p_range_word(const Range& range) { return fmt::format("{} to {}", p_word(range.low), p_word(range.high)); }

}  // namespace

std::vector<PairRow> make_count_pairs(const Evidence& evidence) {
  std::vector<PairRow> rows;
  add_contrasts(evidence, "model", &PrintedCell::model, &PrintedCell::mode, rows);
  add_contrasts(evidence, "mode", &PrintedCell::mode, &PrintedCell::model, rows);
  add_claims(evidence, rows);
  drop_repeats(rows);
  for (const auto* family : {"contrasts", "by-level"}) bound_holm(rows, family, 1 - evidence.options.confidence);
  return rows;
}

Sheet display_count_pairs(const Evidence& evidence, const std::vector<PairRow>& rows) {
  Sheet sheet{.caption = caption_of(evidence, "differences a - b in points from counts"),
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
              .notes = {"p: exact McNemar, least and largest over all ways in which the counts of a row may pair up",
                        family_note(rows)}};
  for (const auto& row : rows) {
    sheet.rows.push_back({row.a, row.b, dash(row.subset), row.scope, std::to_string(row.tasks), points(row.difference),
                          interval_word(row.interval), p_range_word(*row.p_bounds), p_range_word(*row.p_holm_bounds),
                          row.verdict});
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
