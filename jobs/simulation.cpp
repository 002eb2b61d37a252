#include "jobs/simulation.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include "jobs/base/draws.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/dealing.hpp"

namespace nkigrid::jobs {
namespace {

/// Replaces the top of a min-heap and sinks it: one pass where pop and push take two.
void replace_top(std::vector<double>& heap, double value) {
  std::size_t hole = 0;
  for (;;) {
    std::size_t child = 2 * hole + 1;
    if (child >= heap.size()) break;
    if (child + 1 < heap.size() && heap[child + 1] < heap[child]) ++child;
    if (heap[child] >= value) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = value;
}

/// The same server rule for lanes and for elements: the next job starts where one ends first.
class Servers {
 public:
  explicit Servers(std::uint64_t count) : free_at_(count, 0.0) {}
  double run(double seconds) {
    const double end = free_at_.front() + seconds;
    replace_top(free_at_, end);
    last_ = std::max(last_, end);
    return end;
  }
  double last() const noexcept { return last_; }

 private:
  std::vector<double> free_at_;
  double last_ = 0;
};

}  // namespace

std::uint32_t auto_lanes(const Grid& grid, std::uint32_t cores, std::uint32_t ranks_here) noexcept {
  const bool waits = std::any_of(grid.models.begin(), grid.models.end(), [](const auto& model) { return model.api != "synthetic"; });
  return std::max(1U, cores * (waits ? 8U : 2U) / std::max(1U, ranks_here));
}

Layout layout_of(const Grid& grid) {
  const auto& slurm = grid.slurm;
  const auto lanes = grid.lanes > 0 ? grid.lanes : auto_lanes(grid, slurm.cpus_per_rank * slurm.ranks_per_node, slurm.ranks_per_node);
  return {slurm.shards, slurm.throttle, slurm.nodes, slurm.ranks_per_node, lanes};
}

RunSimulator::RunSimulator(const Grid& grid, const Plan& plan, const CostTable& costs, std::uint64_t seed) : endpoint_share_(costs.endpoint_share) {
  for (const auto& model : grid.models) endpoints_.push_back({model.name, static_cast<double>(model.concurrency)});
  for (const auto& cell : plan.cells) {
    const auto at = std::find_if(grid.models.begin(), grid.models.end(), [&](const auto& model) { return model.name == cell.model; });
    endpoint_of_cell_.push_back(static_cast<std::uint32_t>(at - grid.models.begin()));
  }
  std::vector<double> seconds(costs.costs.size());
  std::transform(costs.costs.begin(), costs.costs.end(), seconds.begin(), [](const auto& cost) { return cost.seconds; });
  Draws draws(keyed_hash({std::to_string(seed), "simulate"}));
  const auto order = longest_first(plan, seconds, "deal");
  episodes_.reserve(order.size());
  for (const auto i : order) {
    const auto& episode = plan.episodes[i];
    const double expected = seconds[episode.cell * costs.tasks + episode.task];
    const double drawn = expected * costs.factors[draws.below(costs.factors.size())];
    episodes_.push_back({static_cast<float>(expected), static_cast<float>(drawn), episode.cell});
    work_ += drawn;
    longest_ = std::max(longest_, drawn);
  }
}

/// No element ends before its endpoints have served it: seconds at an endpoint over its concurrency, which each element counts for itself.
double RunSimulator::endpoint_seconds(const std::vector<double>& cell_seconds, std::string& model) const {
  std::vector<double> busy(endpoints_.size());
  for (std::size_t c = 0; c < cell_seconds.size(); ++c) busy[endpoint_of_cell_[c]] += endpoint_share_[c] * cell_seconds[c];
  double most = 0;
  for (std::size_t e = 0; e < busy.size(); ++e) {
    if (endpoints_[e].concurrency <= 0 || busy[e] / endpoints_[e].concurrency <= most) continue;
    most = busy[e] / endpoints_[e].concurrency;
    model = endpoints_[e].model;
  }
  return most;
}

SimulatedRun RunSimulator::simulate(const Layout& layout) const {
  struct Element {
    Servers lanes;
    std::vector<double> cell_seconds;
  };
  const bool limited = std::any_of(endpoints_.begin(), endpoints_.end(), [](const auto& e) { return e.concurrency > 0; });
  std::vector<Element> elements(layout.shards, {Servers(layout.lanes_of_element()), std::vector<double>(limited ? endpoint_share_.size() : 0)});
  ShardSpreader spreader(layout.shards);
  for (const auto& episode : episodes_) {
    auto& element = elements[spreader.next(episode.expected)];
    element.lanes.run(episode.drawn + kDealSeconds);
    if (limited) element.cell_seconds[episode.cell] += episode.drawn;
  }
  SimulatedRun run;
  Servers slots(layout.elements_at_once());
  for (const auto& element : elements) {
    std::string model;
    const double endpoint = limited ? endpoint_seconds(element.cell_seconds, model) : 0;
    const double seconds = kElementSeconds + std::max(element.lanes.last(), endpoint);
    slots.run(seconds);
    run.node_seconds += seconds * layout.nodes;
    if (seconds <= run.longest_element) continue;
    run.longest_element = seconds;
    run.limited_by = endpoint > element.lanes.last() ? model : std::string();
  }
  const double lanes = static_cast<double>(layout.elements_at_once() * layout.lanes_of_element());
  run.makespan = slots.last();
  run.ideal = std::max(work_ / lanes, longest_);
  const double allocated = run.node_seconds * layout.ranks_per_node * layout.lanes;
  run.busy = allocated > 0 ? work_ / allocated : 0;
  return run;
}

}  // namespace nkigrid::jobs
