#include "cli/power_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "aggregate/layout/sheet.hpp"
#include "cli/terminal.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/wrapped.hpp"

namespace nkigrid::cli {
namespace {

std::string points(double difference) { return fmt::format("{:.1f}", 100 * difference); }

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

std::string points(std::optional<double> difference) { return difference ? points(*difference) : "none"; }

nlohmann::ordered_json rounded(std::optional<double> value) {
  return value ? nlohmann::ordered_json(rounded(*value)) : nullptr;
}

/// A sentence below the table, as wide as the terminal.
template <class... Words>
void note(fmt::format_string<Words...> format, Words&&... words) {
  say("{}\n", wrapped(fmt::format(format, std::forward<Words>(words)...), terminal_columns(STDOUT_FILENO)));
}

// What it takes to see the wanted difference.
std::string advice(const aggregate::PowerRow& row, const aggregate::PowerOptions& options) {
  if (row.smallest && *row.smallest <= options.difference) return "enough";
  const auto tasks = fmt::format("{} tasks", row.tasks_needed);
  if (row.replicates_might_help) return fmt::format("{}; more replicates may not help", tasks);
  if (!row.replicates_needed) return fmt::format("{}; more replicates cannot help", tasks);
  return fmt::format("{} replicates, or {}", *row.replicates_needed, tasks);
}

// Whose power it is, and how sure.
void print_test(const std::vector<aggregate::PowerRow>& rows, const aggregate::PowerOptions& options) {
  std::uint32_t fewest = 0;
  bool exact = false;
  for (const auto& row : rows) {
    exact |= row.draws == 0;
    if (row.draws > 0) fewest = fewest == 0 ? row.draws : std::min(fewest, row.draws);
  }
  std::vector<std::string> parts;
  const char* p = options.test == aggregate::PValue::exact ? "exact p" : "mid-p";
  if (exact) parts.push_back(fmt::format("of McNemar's test by its {}, computed", p));
  if (fewest > 0) {
    parts.push_back(fmt::format(
        "of the sign-flip test by its {}, in {} simulated grids (standard error {:.1f} % at {:g} %)", p, fewest,
        100 * std::sqrt(options.goal.power * (1 - options.goal.power) / fewest), 100 * options.goal.power));
  }
  note("power: that of the test in `pairs`, {}; none: not even the largest difference is shown",
       fmt::to_string(fmt::join(parts, "; ")));
}

void print_basis(const std::vector<aggregate::PowerRow>& rows, const aggregate::PowerOptions& options) {
  if (std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.basis != "pilot"; })) {
    note(
        "basis prior: rates near {:g} %, {:.0f} % of the variance between tasks; a run given as --pilot "
        "replaces it by what it measured",
        100 * options.prior.rate, 100 * options.prior.share_of_tasks);
  }
  if (std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.between_upper.has_value(); })) {
    note(
        "basis pilot: K=inf and the replicates that it takes go by the {:g} % upper bound of the variance between "
        "tasks",
        100 * aggregate::kPilotConfidence);
  }
}

}  // namespace

std::optional<aggregate::ReadRun> read_pilot(const std::string& folder) {
  if (folder.empty()) return std::nullopt;
  auto run = jobs::load_run(folder);
  auto ledger = log::read_ledger(run);
  return aggregate::ReadRun{std::move(run), std::move(ledger)};
}

void print_power(const std::vector<aggregate::PowerRow>& rows, const aggregate::PowerOptions& options) {
  if (rows.empty()) return;
  aggregate::Sheet sheet;
  sheet.caption =
      fmt::format("smallest visible difference in points, paired, {:g} % power at alpha {:g}; to see {} points",
                  100 * options.goal.power, options.goal.alpha, points(options.difference));
  sheet.columns = {{"a"}, {"b"}};
  for (const auto* head : {"tasks", "K", "visible", "in family", "K=inf", "power"})
    sheet.columns.push_back({head, aggregate::Align::right});
  sheet.columns.push_back({"basis"});
  sheet.columns.push_back({"it takes"});
  for (const auto& row : rows) {
    const auto k = row.design.replicates_a == row.design.replicates_b
                       ? fmt::format("{:g}", row.design.replicates_a)
                       : fmt::format("{:g}/{:g}", row.design.replicates_a, row.design.replicates_b);
    sheet.rows.push_back({row.a, row.b, fmt::format("{}", row.design.tasks), k, points(row.smallest),
                          points(row.smallest_in_family), points(row.smallest_ever), fmt::format("{:.2f}", row.power),
                          row.basis, advice(row, options)});
  }
  say("\n{}", sheet_as_text(sheet, terminal_columns(STDOUT_FILENO)));
  note(
      "in family: each of {} comparisons at alpha/{} (Holm's worst case); K=inf: whatever the replicates, "
      "these tasks show no less",
      rows.size(), rows.size());
  print_test(rows, options);
  note("K=inf and the replicates that it takes: scaled from the visible difference by the normal approximation");
  print_basis(rows, options);
}

std::string power_as_json(const std::vector<aggregate::PowerRow>& rows, const aggregate::PowerOptions& options) {
  nlohmann::ordered_json out = {{"alpha", options.goal.alpha},
                                {"power", options.goal.power},
                                {"difference", options.difference},
                                {"pairs", nlohmann::ordered_json::array()}};
  for (const auto& row : rows) {
    out["pairs"].push_back(
        {{"contrast", row.contrast},
         {"a", row.a},
         {"b", row.b},
         {"tasks", row.design.tasks},
         {"replicates_a", row.design.replicates_a},
         {"replicates_b", row.design.replicates_b},
         {"basis", row.basis},
         {"variance_between_tasks", rounded(row.design.between_tasks)},
         {"variance_replicate_a", rounded(row.design.noise_a)},
         {"variance_replicate_b", rounded(row.design.noise_b)},
         {"test", fmt::format("{}-{}", row.draws == 0 ? "mcnemar" : "sign-flip",
                              options.test == aggregate::PValue::exact ? "exact" : "mid-p")},
         {"draws", row.draws},
         {"power_standard_error",
          row.draws == 0 ? 0.0 : rounded(std::sqrt(options.goal.power * (1 - options.goal.power) / row.draws))},
         {"variance_between_tasks_upper", rounded(row.between_upper)},
         {"smallest_difference", rounded(row.smallest)},
         {"smallest_by_normal_approximation", rounded(row.smallest_normal)},
         {"smallest_in_family", rounded(row.smallest_in_family)},
         {"smallest_with_endless_replicates", rounded(row.smallest_ever)},
         {"power", rounded(row.power)},
         {"share_of_replicates", rounded(row.noise_share)},
         {"replicates_needed", row.replicates_needed ? nlohmann::ordered_json(*row.replicates_needed) : nullptr},
         {"tasks_needed", row.tasks_needed},
         {"replicates_can_help", row.replicates_needed.has_value()}});
  }
  return out.dump();
}

}  // namespace nkigrid::cli
