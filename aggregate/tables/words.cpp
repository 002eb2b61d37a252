#include "aggregate/tables/words.hpp"

#include <fmt/format.h>

namespace nkigrid::aggregate {

std::string caption_of(const Evidence& evidence, std::string_view what) {
  const auto rule = evidence.from_counts() ? std::string() : fmt::format(", rule {}", to_string(evidence.options.rule));
  return fmt::format("{}: {}{}, {:g} % intervals", evidence.name, what, rule, evidence.options.confidence * 100);
}

std::string caption_of_counts(const Evidence& evidence, std::string_view what) {
  return fmt::format("{}: {}, rule {}", evidence.name, what, to_string(evidence.options.rule));
}

std::string dash(const std::string& word) { return word.empty() ? "-" : word; }

std::string interval_word(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{} {}", bracket(interval->low, interval->high), interval->method) : "-";
}

void push_interval(Words& words, const std::optional<Interval>& interval) {
  words.push_back(interval ? interval->method : "");
  words.push_back(interval ? fraction(interval->low) : "");
  words.push_back(interval ? fraction(interval->high) : "");
}

std::string range_word(const std::optional<Range>& range) { return range ? bracket(range->low, range->high) : "-"; }

void push_range(Words& words, const std::optional<Range>& range) {
  words.push_back(range ? fraction(range->low) : "");
  words.push_back(range ? fraction(range->high) : "");
}

std::string p_word(const std::optional<double>& p) {
  if (!p) return "-";
  return *p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", *p);
}

std::string p_field(const std::optional<double>& p) { return p ? fmt::format("{}", rounded_significant(*p)) : ""; }

const char* adjusted_head(const Evidence& evidence) {
  return evidence.options.adjust == Adjust::bh ? "p BH" : "p Holm";
}

std::vector<Column> data_columns(std::initializer_list<const char*> names) {
  std::vector<Column> columns;
  for (const std::string name : names) {
    if (name.starts_with('#'))
      columns.push_back({name.substr(1), Align::right, Kind::number});
    else
      columns.push_back({name});
  }
  return columns;
}

}  // namespace nkigrid::aggregate
