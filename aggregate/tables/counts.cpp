#include "aggregate/tables/counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/hypergeometric.hpp>
#include <cmath>
#include <cstdlib>
#include <set>
#include <tuple>

#include "aggregate/statistics/paired.hpp"
#include "aggregate/statistics/relative.hpp"
#include "aggregate/tables/ablation.hpp"

namespace nkigrid::aggregate {
namespace {

Rate make_rate(std::uint64_t passed, std::uint64_t n, double level) {
  Rate rate;
  rate.tasks = static_cast<std::uint32_t>(n);
  rate.replicates = 1;
  rate.episodes = n;
  rate.passed = passed;
  rate.rate = static_cast<double>(passed) / static_cast<double>(n);
  rate.interval = wilson(*rate.rate, static_cast<double>(n), level);
  return rate;
}

void warn_of_print(const std::string& what, const std::string& printed, const Rate& rate,
                   std::vector<std::string>& warnings) {
  warnings.push_back(fmt::format("{} prints {} %, but {}/{} is {:.2f} %", what, printed, rate.passed, rate.episodes,
                                 100 * *rate.rate));
}

CellRow make_row(const CountedCell& cell, double level, std::vector<std::string>& warnings) {
  CellRow row{cell.cell, cell.model, cell.mode,   cell.prompt, cell.subset, make_rate(cell.passed, cell.n, level),
              {},        {},         cell.printed};
  row.printed_fits = cell.printed.empty() || printed_fits(cell.printed, 100 * *row.total.rate);
  if (!row.printed_fits)
    warn_of_print(fmt::format("{} ({})", cell.cell, cell.subset), cell.printed, row.total, warnings);
  for (const auto& [name, count] : cell.levels) {
    row.levels.push_back({name, make_rate(count.passed, count.n, level)});
    if (!count.printed.empty() && !printed_fits(count.printed, 100 * *row.levels.back().rate.rate)) {
      warn_of_print(fmt::format("{} ({}, {})", cell.cell, cell.subset, name), count.printed, row.levels.back().rate,
                    warnings);
    }
  }
  return row;
}

/// Passes of n tasks of a cell in a scope; none when the cell has not that level.
std::optional<LevelCount> in_scope(const CountedCell& cell, const std::string& scope) {
  if (scope == "all" || scope == cell.subset) return LevelCount{cell.passed, cell.n, ""};
  const auto found = cell.levels.find(scope);
  return found == cell.levels.end() ? std::nullopt : std::optional(found->second);
}

// Exact McNemar p over every number of discordant tasks that the two counts allow. At a given difference D it grows
// with the number m of discordant tasks, so the ends are those of the range: p is P(|S_m| >= D) of a simple random
// walk, and two more steps bring in a quarter of P(|S_m| = D - 2) and take out a quarter of P(|S_m| = D), which is no
// larger.
Range pairing_bounds(std::uint64_t a, std::uint64_t b, std::uint64_t n) {
  const std::uint64_t more = a > b ? a - b : b - a, most_lost = std::min(std::min(a, b), n - std::max(a, b));
  return {mcnemar_exact(more, 0), mcnemar_exact(more + most_lost, most_lost)};
}

std::optional<PairRow> compare(const CountedCell& a, const CountedCell& b, const std::string& contrast,
                               const std::string& scope, double level) {
  const auto in_a = in_scope(a, scope), in_b = in_scope(b, scope);
  if (!in_a || !in_b || in_a->n != in_b->n) return std::nullopt;
  const auto n = static_cast<double>(in_a->n), rate_a = static_cast<double>(in_a->passed) / n,
             rate_b = static_cast<double>(in_b->passed) / n;
  PairRow row{a.cell,
              b.cell,
              contrast,
              scope,
              "counts",
              static_cast<std::uint32_t>(in_a->n),
              0,
              rate_a - rate_b,
              newcombe(rate_a, n, rate_b, n, level),
              "mcnemar-bounds",
              {},
              {},
              {},
              a.subset};
  row.p_bounds = pairing_bounds(in_a->passed, in_b->passed, in_a->n);
  const double alpha = 1 - level;
  row.verdict = row.p_bounds->high <= alpha ? "always-significant"
                : row.p_bounds->low > alpha ? "never-significant"
                                            : "depends-on-pairing";
  return row;
}

// Cells that differ in one factor, against the first value listed in the file.
void add_contrasts(const Counts& counts, const char* name, std::string CountedCell::*factor,
                   std::string CountedCell::*other, double level, std::vector<PairRow>& rows) {
  const auto first =
      std::find_if(counts.cells.begin(), counts.cells.end(), [&](const auto& cell) { return !(cell.*factor).empty(); });
  if (first == counts.cells.end()) return;
  for (const auto& a : counts.cells) {
    for (const auto& b : counts.cells) {
      if (b.*factor != (*first).*factor || a.*factor == b.*factor || (a.*factor).empty()) continue;
      if (a.subset != b.subset || a.*other != b.*other || a.prompt != b.prompt) continue;
      std::vector<std::string> scopes{"all"};
      for (const auto& [scope, count] : a.levels) scopes.push_back(scope);
      for (const auto& scope : scopes) {
        if (auto row = compare(a, b, fmt::format("{}: {} vs {}", name, a.*factor, b.*factor), scope, level))
          rows.push_back(std::move(*row));
      }
    }
  }
}

double claimed_value(const std::string& kind, const LevelCount& a, const LevelCount& b) {
  const double rate_a = static_cast<double>(a.passed) / static_cast<double>(a.n),
               rate_b = static_cast<double>(b.passed) / static_cast<double>(b.n);
  if (kind == "difference") return rate_a - rate_b;
  return kind == "share" ? rate_a / rate_b : (rate_a - rate_b) / rate_b;
}

std::optional<Interval> claimed_interval(const std::string& kind, const LevelCount& a, const LevelCount& b,
                                         double level) {
  const auto n_a = static_cast<double>(a.n), n_b = static_cast<double>(b.n);
  const double rate_a = static_cast<double>(a.passed) / n_a, rate_b = static_cast<double>(b.passed) / n_b;
  if (kind == "difference") return newcombe(rate_a, n_a, rate_b, n_b, level);
  auto interval = relative_change(rate_a, n_a, rate_b, n_b, level).interval;
  if (interval && kind == "share") interval->low += 1, interval->high += 1;
  return interval;
}

bool is_subset(const Counts& counts, const std::string& scope) {
  return std::any_of(counts.cells.begin(), counts.cells.end(),
                     [&](const auto& cell) { return !cell.subset.empty() && cell.subset == scope; });
}

bool claimed_apart(const Counts& counts, const Claim& claim, const std::string& subset) {
  return std::any_of(counts.claims.begin(), counts.claims.end(), [&](const auto& other) {
    return other.kind == claim.kind && other.a == claim.a && other.b == claim.b && other.scope == subset;
  });
}

std::string mismatch(const Claim& claim, const ClaimRow& row, bool elsewhere) {
  const auto what = fmt::format("{}: {} {} {}", claim.where, claim.a,
                                claim.kind == "share"      ? "as a share of"
                                : claim.kind == "relative" ? "relative to"
                                                           : "minus",
                                claim.b);
  if (elsewhere)
    return fmt::format("{} is {} on {}, but {:.2f} on {}", what, claim.printed, claim.scope, 100 * row.value,
                       row.subset);
  return fmt::format("{} is printed as {}, but the counts say {:.2f}", what, claim.printed, 100 * row.value);
}

// Holds a claim to one pair of cells. @returns false when they say nothing about it
bool check_pair(const Counts& counts, const Claim& claim, const CountedCell& a, const CountedCell& b, Tables& tables) {
  const bool named = is_subset(counts, claim.scope), elsewhere = named && claim.scope != a.subset;
  const std::string scope = named ? "all" : claim.scope;
  const auto in_a = in_scope(a, scope), in_b = in_scope(b, scope);
  if (!in_a || !in_b || (claim.kind != "difference" && in_b->passed == 0)) return false;
  if (elsewhere && claimed_apart(counts, claim, a.subset)) return false;
  ClaimRow row{claim.where, claim.kind, claim.a,       claim.b,
               scope,       a.subset,   claim.printed, claimed_value(claim.kind, *in_a, *in_b)};
  row.fits = printed_fits(claim.printed, 100 * row.value);
  row.interval = claimed_interval(claim.kind, *in_a, *in_b, tables.level);
  if (!row.fits) tables.warnings.push_back(mismatch(claim, row, elsewhere));
  if (!elsewhere) {
    if (auto pair = compare(a, b, claim.where, scope, tables.level)) tables.pairs.push_back(std::move(*pair));
  }
  tables.claims.push_back(std::move(row));
  return true;
}

// A claim is looked at on every subset that has both cells: one that names its subset is held to it, the
// others say whether it carries over.
void check_claim(const Counts& counts, const Claim& claim, Tables& tables) {
  bool seen = false;
  for (const auto& a : counts.cells) {
    for (const auto& b : counts.cells) {
      if (a.cell == claim.a && b.cell == claim.b && a.subset == b.subset)
        seen |= check_pair(counts, claim, a, b, tables);
    }
  }
  if (seen) return;
  tables.warnings.push_back(fmt::format("{}: {} of {} and {} cannot be checked (no subset has both in scope {})",
                                        claim.where, claim.kind, claim.a, claim.b, claim.scope));
}

double fisher_two_sided(std::uint64_t a, std::uint64_t n_a, std::uint64_t b, std::uint64_t n_b) {
  const std::uint64_t passed = a + b;
  const boost::math::hypergeometric_distribution<> table(passed, n_a, n_a + n_b);
  const double observed = boost::math::pdf(table, a);
  double p = 0;
  for (std::uint64_t k = passed > n_b ? passed - n_b : 0; k <= std::min(passed, n_a); ++k) {
    const double mass = boost::math::pdf(table, k);
    if (mass <= observed * (1 + 1e-7)) p += mass;
  }
  return std::min(1.0, p);
}

// One cell on two task sets: if the smaller set lies inside the larger, the tasks outside it should pass
// about as often.
void compare_subsets(const Counts& counts, double level, std::vector<std::string>& warnings) {
  for (const auto& small : counts.cells) {
    for (const auto& large : counts.cells) {
      if (small.cell != large.cell || small.n >= large.n || large.passed < small.passed ||
          large.n - small.n < large.passed - small.passed)
        continue;
      const double p = fisher_two_sided(small.passed, small.n, large.passed - small.passed, large.n - small.n);
      if (p > 1 - level) continue;
      warnings.push_back(
          fmt::format("{}: {}/{} on {} and {}/{} on {} disagree (were the smaller set part of the larger, "
                      "the other tasks would pass {}/{}; Fisher p = {:.2g})",
                      small.cell, small.passed, small.n, small.subset, large.passed, large.n, large.subset,
                      large.passed - small.passed, large.n - small.n, p));
    }
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

}  // namespace

bool printed_fits(const std::string& printed, double value) {
  const auto point = printed.find('.');
  const int decimals = point == std::string::npos ? 0 : static_cast<int>(printed.find_last_of("0123456789") - point);
  // Half a unit of the last place, and a little for halves that two-digit arithmetic may round either way.
  return std::abs(std::strtod(printed.c_str(), nullptr) - value) <= 0.5 * std::pow(10.0, -decimals) + 1e-9;
}

Tables make_count_tables(const Counts& counts, double level, const std::string& against) {
  Tables tables;
  tables.run = counts.name;
  tables.level = level;
  tables.from_counts = true;
  std::set<std::string> levels;
  for (const auto& cell : counts.cells) {
    tables.cells.push_back(make_row(cell, level, tables.warnings));
    for (const auto& [name, count] : cell.levels) levels.insert(name);
  }
  tables.level_names.assign(levels.begin(), levels.end());
  add_contrasts(counts, "model", &CountedCell::model, &CountedCell::mode, level, tables.pairs);
  add_contrasts(counts, "mode", &CountedCell::mode, &CountedCell::model, level, tables.pairs);
  for (const auto& claim : counts.claims) check_claim(counts, claim, tables);
  drop_repeats(tables.pairs);
  bound_holm(tables.pairs);
  compare_subsets(counts, level, tables.warnings);
  tables.ablation = make_ablation(counts, level, against);
  tables.interactions = make_interactions(counts, level);
  return tables;
}

}  // namespace nkigrid::aggregate
