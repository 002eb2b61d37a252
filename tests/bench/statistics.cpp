// Times of the statistics on made results, as JSON: milliseconds a call, medians. tests/bench/run holds them
// against scipy.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "aggregate/evidence/evidence.hpp"
#include "aggregate/statistics/intervals.hpp"
#include "aggregate/tables/pairs.hpp"
#include "jobs/base/draws.hpp"
#include "tests/aggregate/made_run.hpp"

using namespace nkigrid;

namespace {

double median_ms(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < 15; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + 7, times.end());
  return times[7];
}

// A task's chance of passing, spread widely over tasks and a little over cells.
test::MadeRun made_grid(const std::vector<std::string>& cells, std::uint32_t replicates) {
  auto tasks =
      test::join(test::join(test::made_tasks("L1", 50), test::made_tasks("L2", 50)), test::made_tasks("L3", 50));
  return test::made_run(cells, tasks, replicates, [](const EpisodeId& id) {
    const double hard = Draws(keyed_hash({"task", id.task})).uniform();
    const double chance = std::clamp(hard * hard * 1.1 + (id.cell[0] - 'a') * 0.01, 0.0, 1.0);
    return test::ended(Draws(keyed_hash({"draw", id.cell, id.task, std::to_string(id.replicate)})).uniform() < chance);
  });
}

}  // namespace

int main() {
  std::vector<std::string> cells;
  for (char name = 'a'; name < 'j'; ++name) cells.push_back(std::string(1, name) + ".agent.p");
  auto made = made_grid(cells, 10);
  for (std::size_t b = 0; b < cells.size(); ++b) {
    for (std::size_t a = b + 1; a < cells.size(); ++a)
      made.run.grid.contrasts.push_back(
          {cells[a] + cells[b], {{"model", cells[a].substr(0, 1)}}, {{"model", cells[b].substr(0, 1)}}, {"all"}});
  }
  const auto evidence = aggregate::evidence_of(made.run, made.ledger);
  std::size_t rows = 0;
  const double pairs = median_ms([&] { rows = aggregate::make_pairs(evidence).size(); });
  const auto counts = aggregate::scored_counts(evidence.scores[4].tasks);
  auto flat = counts;
  for (auto& task : flat) task.stratum = 0;
  aggregate::Interval interval, plain;
  const double cell = median_ms([&] { interval = aggregate::rate_interval(counts, 0.95); });
  const double one = median_ms([&] { plain = aggregate::rate_interval(flat, 0.95); });
  fmt::print(
      "{{\"pairs\": {}, \"pairs_ms\": {:.4f}, \"cell_ms\": {:.5f}, \"method\": \"{}\", \"plain_ms\": {:.5f}, "
      "\"plain\": [{}, {}], "
      "\"scores\": [",
      rows, pairs, cell, interval.method, one, plain.low, plain.high);
  for (std::size_t i = 0; i < counts.size(); ++i)
    fmt::print("{}{}", i ? ", " : "", static_cast<double>(counts[i].passed) / counts[i].replicates);
  fmt::print("]}}\n");
}
