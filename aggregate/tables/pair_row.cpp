#include "aggregate/tables/pair_row.hpp"

#include <fmt/format.h>

#include <map>

#include "aggregate/tables/family.hpp"

namespace nkigrid::aggregate {
namespace {

void push_p_range(Words& words, const std::optional<Range>& range) {
  words.push_back(range ? p_field(range->low) : "");
  words.push_back(range ? p_field(range->high) : "");
}

}  // namespace

const char* test_name(bool one_replicate, PValue kind) {
  if (kind == PValue::exact) return one_replicate ? "mcnemar-exact" : "sign-flip";
  return one_replicate ? "mcnemar-mid-p" : "sign-flip-mid-p";
}

Sheet data_of_pairs(const std::vector<PairRow>& rows) {
  Sheet sheet{.columns = data_columns({"a",
                                       "b",
                                       "scope",
                                       "family",
                                       "contrast",
                                       "#tasks",
                                       "#outstanding",
                                       "#difference",
                                       "interval_method",
                                       "#interval_low",
                                       "#interval_high",
                                       "test",
                                       "#p",
                                       "#p_holm",
                                       "verdict",
                                       "#p_low",
                                       "#p_high",
                                       "subset",
                                       "#p_bh",
                                       "#p_holm_low",
                                       "#p_holm_high"})};
  for (const auto& row : rows) {
    Words words{row.a,
                row.b,
                row.scope,
                row.family,
                row.contrast,
                std::to_string(row.tasks),
                std::to_string(row.outstanding),
                fraction(row.difference)};
    push_interval(words, row.interval);
    words.insert(words.end(), {row.test, p_field(row.p), p_field(row.p_holm), row.verdict});
    push_p_range(words, row.p_bounds);
    words.insert(words.end(), {row.subset, p_field(row.p_bh)});
    push_p_range(words, row.p_holm_bounds);
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

std::string adjusted_word(const PairRow& row) { return p_word(row.p_bh ? row.p_bh : row.p_holm); }

std::string verdict_word(const PairRow& row) {
  if (!row.verdict.empty()) return row.verdict;
  return row.outstanding > 0 ? fmt::format("{} outstanding", row.outstanding) : "-";
}

std::string adjustment_note(const Evidence& evidence, const std::vector<PairRow>& rows) {
  std::map<std::string, std::size_t> families;
  for (const auto& row : rows) families[row.family] += is_in_family(row);
  std::vector<std::string> parts;
  for (const auto& [name, size] : families)
    parts.push_back(fmt::format("{} comparison{} of {}", size, size == 1 ? "" : "s",
                                families.size() == 1 ? "this table" : "family " + name));
  const bool bh = evidence.options.adjust == Adjust::bh;
  return fmt::format("{} over the {}", bh ? "p BH: Benjamini and Hochberg (false discovery rate)," : "p Holm: adjusted",
                     fmt::join(parts, ", apart from them the "));
}

}  // namespace nkigrid::aggregate
