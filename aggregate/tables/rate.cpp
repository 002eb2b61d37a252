#include "aggregate/tables/rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "aggregate/tables/json_values.hpp"

namespace nkigrid::aggregate {
namespace {

// Over scored episodes when `partial`; the caller has seen to it that some are.
void add_estimates(Rate& rate, const std::vector<TaskScore>& tasks, const TableOptions& options) {
  const auto counts = scored_counts(tasks);
  rate.rate = mean_score(counts);
  rate.interval = options.intervals == RateIntervals::clopper_pearson
                      ? clopper_pearson(mean_score(counts), static_cast<double>(counts.size()), options.confidence)
                      : rate_interval(counts, options.confidence);
  if (const auto rerun = run_to_run_interval(counts, options.confidence))
    rate.run_to_run = Range{rerun->low, rerun->high};
}

}  // namespace

Rate make_rate(const std::vector<TaskScore>& tasks, const TableOptions& options) {
  Rate rate;
  rate.tasks = static_cast<std::uint32_t>(tasks.size());
  std::uint64_t scored = 0;
  for (const auto& task : tasks) {
    rate.replicates = std::max(rate.replicates, task.planned);
    rate.episodes += task.planned;
    rate.passed += task.passed;
    scored += task.scored;
  }
  rate.outstanding = rate.episodes - scored;
  if (rate.outstanding > 0) rate.bounds = Range{weigh(tasks).least(), weigh(tasks).most()};
  if (scored > 0 && (rate.outstanding == 0 || options.partial)) add_estimates(rate, tasks, options);
  return rate;
}

Rate make_rate(std::uint64_t passed, std::uint64_t n, double confidence) {
  Rate rate;
  rate.tasks = static_cast<std::uint32_t>(n);
  rate.replicates = 1;
  rate.episodes = n;
  rate.passed = passed;
  rate.rate = static_cast<double>(passed) / static_cast<double>(n);
  rate.interval = wilson(*rate.rate, static_cast<double>(n), confidence);
  return rate;
}

std::string rate_word(const Rate& rate) { return rate.rate ? percent(*rate.rate) : "-"; }

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
                           : fmt::format("{} outstanding, bounds {}", rate->outstanding, range_word(rate->bounds))});
}

std::vector<Column> rate_columns() {
  return data_columns({"#tasks", "#replicates", "#episodes", "#passed", "#outstanding", "#rate", "interval_method",
                       "#interval_low", "#interval_high", "#bounds_low", "#bounds_high", "#run_to_run_low",
                       "#run_to_run_high"});
}

void push_rate_fields(Words& words, const Rate& rate) {
  for (const std::uint64_t count :
       {std::uint64_t{rate.tasks}, std::uint64_t{rate.replicates}, rate.episodes, rate.passed, rate.outstanding}) {
    words.push_back(std::to_string(count));
  }
  words.push_back(fraction(rate.rate));
  push_interval(words, rate.interval);
  push_range(words, rate.bounds);
  push_range(words, rate.run_to_run);
}

nlohmann::ordered_json rate_json(const Rate& rate) {
  return {{"tasks", rate.tasks},
          {"episodes", rate.episodes},
          {"passed", rate.passed},
          {"outstanding", rate.outstanding},
          {"rate", number_json(rate.rate)},
          {"interval", interval_json(rate.interval)},
          {"bounds", range_json(rate.bounds)}};
}

}  // namespace nkigrid::aggregate
