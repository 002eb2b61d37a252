#include "aggregate/layout/sheets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nkigrid::aggregate {
namespace {

using Words = std::vector<std::string>;

template <class Ends>
std::string bracket(const Ends& ends) {
  return aggregate::bracket(ends.low, ends.high);
}

std::string rate_word(const Rate& rate) { return rate.rate ? percent(*rate.rate) : "-"; }

std::string head(const Tables& tables) { return caption_of(tables, "pass rate in percent"); }

Sheet display_cells(const Tables& tables) {
  bool run_to_run = false;
  for (const auto& row : tables.cells) run_to_run |= row.total.run_to_run.has_value();
  Sheet sheet{"cells",
              head(tables),
              {{"cell"},
               {"subset"},
               {"tasks", Align::right},
               {"K", Align::right},
               {"passed", Align::right},
               {"rate", Align::right},
               {"interval"}},
              {},
              {}};
  if (run_to_run) sheet.columns.push_back({"run to run"});
  if (tables.outstanding > 0) sheet.columns.insert(sheet.columns.end(), {{"outstanding", Align::right}, {"bounds"}});
  if (tables.from_counts) sheet.columns.push_back({"printed", Align::right});
  for (const auto& row : tables.cells) {
    const auto& rate = row.total;
    Words words{row.cell,
                row.subset.empty() ? "-" : row.subset,
                std::to_string(rate.tasks),
                std::to_string(rate.replicates),
                fmt::format("{}/{}", rate.passed, rate.episodes),
                rate_word(rate),
                interval_word(rate.interval)};
    if (run_to_run) words.push_back(rate.run_to_run ? bracket(*rate.run_to_run) : "-");
    if (tables.outstanding > 0)
      words.insert(words.end(), {std::to_string(rate.outstanding), rate.bounds ? bracket(*rate.bounds) : "-"});
    if (tables.from_counts) words.push_back(row.printed.empty() ? "-" : row.printed + (row.printed_fits ? "" : " (!)"));
    sheet.rows.push_back(std::move(words));
  }
  if (run_to_run) {
    sheet.notes.push_back(
        "interval: other tasks of this kind; run to run: these tasks again, K replicates each (normal, from the "
        "variance between replicates; Wilson where it is seen on at most five tasks)");
  }
  return sheet;
}

Sheet display_levels(const Tables& tables) {
  Sheet sheet{"levels", fmt::format("{}, by level", head(tables)), {{"cell"}}, {}, {}};
  for (const auto& level : tables.level_names) push_rate_columns(sheet, level);
  for (const auto& row : tables.cells) {
    if (row.levels.empty()) continue;  // counts may lack them
    Words words{row.cell};
    for (const auto& level : tables.level_names) {
      const auto part =
          std::find_if(row.levels.begin(), row.levels.end(), [&](const auto& other) { return other.level == level; });
      push_rate_words(words, part == row.levels.end() ? nullptr : &part->rate);
    }
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

Sheet display_categories(const Tables& tables) {
  Sheet sheet{
      "categories",
      fmt::format("{}, by category", head(tables)),
      {{"cell"}, {"category"}, {"tasks", Align::right}, {"passed", Align::right}, {"rate", Align::right}, {"interval"}},
      {},
      {}};
  for (const auto& row : tables.cells) {
    for (const auto& part : row.categories) {
      Words words{row.cell, part.level, std::to_string(part.rate.tasks)};
      push_rate_words(words, &part.rate);
      sheet.rows.push_back(std::move(words));
    }
  }
  return sheet;
}

const auto kRateColumns = data_columns({"#tasks", "#replicates", "#episodes", "#passed", "#outstanding", "#rate",
                                        "interval_method", "#interval_low", "#interval_high", "#bounds_low",
                                        "#bounds_high", "#run_to_run_low", "#run_to_run_high"});

void push_rate(Words& words, const Rate& rate) {
  for (const std::uint64_t count :
       {std::uint64_t{rate.tasks}, std::uint64_t{rate.replicates}, rate.episodes, rate.passed, rate.outstanding}) {
    words.push_back(std::to_string(count));
  }
  words.push_back(fraction(rate.rate));
  push_interval(words, rate.interval);
  push_range(words, rate.bounds);
  push_range(words, rate.run_to_run);
}

Sheet data_cells(const Tables& tables) {
  Sheet sheet{"cells", "", {{"cell"}, {"model"}, {"mode"}, {"prompt"}, {"subset"}}, {}, {}};
  sheet.columns.insert(sheet.columns.end(), kRateColumns.begin(), kRateColumns.end());
  for (const auto& row : tables.cells) {
    Words words{row.cell, row.model, row.mode, row.prompt, row.subset};
    push_rate(words, row.total);
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

Sheet data_parts(const Tables& tables, TableName name) {
  const bool levels = name == TableName::levels;
  Sheet sheet{std::string(to_string(name)), "", {{"cell"}, {levels ? "level" : "category"}}, {}, {}};
  sheet.columns.insert(sheet.columns.end(), kRateColumns.begin(), kRateColumns.end());
  for (const auto& row : tables.cells) {
    for (const auto& part : levels ? row.levels : row.categories) {
      Words words{row.cell, part.level};
      push_rate(words, part.rate);
      sheet.rows.push_back(std::move(words));
    }
  }
  return sheet;
}

}  // namespace

void push_rate_columns(Sheet& sheet, const std::string& group) {
  sheet.columns.insert(sheet.columns.end(), {{"passed", Align::right, Kind::word, group},
                                             {"rate", Align::right, Kind::word, group},
                                             {"interval", Align::left, Kind::word, group}});
}

void push_rate_words(Words& words, const Rate* rate) {
  if (!rate) {
    words.insert(words.end(), {"-", "-", "-"});
    return;
  }
  words.insert(words.end(),
               {fmt::format("{}/{}", rate->passed, rate->episodes), rate_word(*rate),
                rate->rate ? interval_word(rate->interval)
                           : fmt::format("{} outstanding, bounds {}", rate->outstanding, bracket(*rate->bounds))});
}

double rounded(double value) noexcept { return std::round(value * 1e6) / 1e6 + 0.0; }

std::string caption_of(const Tables& tables, std::string_view what) {
  // By which rule printed counts were made, nobody told.
  const auto rule = tables.from_counts ? std::string() : fmt::format(", rule {}", to_string(tables.rule));
  return fmt::format("{}: {}{}, {:g} % intervals", tables.run, what, rule, tables.level * 100);
}

std::string fraction(double value) { return fmt::format("{}", rounded(value)); }

std::string fraction(const std::optional<double>& value) { return value ? fraction(*value) : ""; }

std::string percent(double value) { return fmt::format("{:.1f}", rounded(value) * 100 + 0.0); }

std::string bracket(double low, double high) { return fmt::format("[{}, {}]", percent(low), percent(high)); }

std::string interval_word(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{} {}", bracket(*interval), interval->method) : "-";
}

void push_interval(std::vector<std::string>& words, const std::optional<Interval>& interval) {
  words.push_back(interval ? interval->method : "");
  words.push_back(interval ? fraction(interval->low) : "");
  words.push_back(interval ? fraction(interval->high) : "");
}

void push_range(std::vector<std::string>& words, const std::optional<Range>& range) {
  words.push_back(range ? fraction(range->low) : "");
  words.push_back(range ? fraction(range->high) : "");
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

namespace {

Sheet data_levels(const Tables& tables) { return data_parts(tables, TableName::levels); }
Sheet data_categories(const Tables& tables) { return data_parts(tables, TableName::categories); }
Sheet display_any_pairs(const Tables& tables) {
  return tables.from_counts ? display_bounds(tables) : display_pairs(tables);
}

/// How a table is laid out, for people and for programs.
struct Layout {
  TableName name;
  Sheet (*display)(const Tables&);
  Sheet (*data)(const Tables&);
};

constexpr Layout kLayouts[] = {
    {TableName::cells, display_cells, data_cells},
    {TableName::levels, display_levels, data_levels},
    {TableName::modes, display_modes, data_modes},
    {TableName::ablation, display_ablation, data_ablation},
    {TableName::pairs, display_any_pairs, data_pairs},
    {TableName::interactions, display_interactions, data_interactions},
    {TableName::methods, display_methods, data_methods},
    {TableName::method_pairs, display_method_pairs, data_method_pairs},
    {TableName::flips, display_flips, data_flips},
    {TableName::categories, display_categories, data_categories},
    {TableName::errors, error_sheet, error_sheet},
    {TableName::transitions, transition_sheet, transition_sheet},
    {TableName::turns, display_turns, data_turns},
    {TableName::replicates, display_replicates, data_replicates},
    {TableName::cost, display_cost, data_cost},
    {TableName::rules, rule_sheet, rule_sheet},
    {TableName::estimates, display_estimates, data_estimates},
    {TableName::claims, display_claims, data_claims},
};

const Layout& layout_of(TableName name) {
  return *std::find_if(std::begin(kLayouts), std::end(kLayouts),
                       [&](const auto& layout) { return layout.name == name; });
}

}  // namespace

Sheet display_sheet(const Tables& tables, TableName name) { return layout_of(name).display(tables); }

Sheet data_sheet(const Tables& tables, TableName name) { return layout_of(name).data(tables); }

}  // namespace nkigrid::aggregate
