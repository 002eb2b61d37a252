#include "jobs/forecast/simulation.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "jobs/base/draws.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/dealing.hpp"
#include "jobs/element_lanes.hpp"

namespace nkigrid::jobs {
namespace {

/// Elements in their order: the next one starts where one ends first.
class Slots {
 public:
  explicit Slots(std::uint64_t count) : free_at_(count, 0.0) {}
  void run(double seconds) {
    std::pop_heap(free_at_.begin(), free_at_.end(), std::greater());
    free_at_.back() += seconds;
    last_ = std::max(last_, free_at_.back());
    std::push_heap(free_at_.begin(), free_at_.end(), std::greater());
  }
  double last() const noexcept { return last_; }

 private:
  std::vector<double> free_at_;
  double last_ = 0;
};

/// How many times longer compiles and verifies took than alone, where the costs were measured: lanes that want more
/// cores than there are.
/// @param compute share of the measured seconds outside the endpoint
double slowdown_of(const Layout& layout, std::uint32_t cpus_per_rank, double compute) {
  return std::max(1.0, layout.lanes * compute / cpus_per_rank);
}

}  // namespace

std::uint32_t auto_lanes(const Grid& grid, std::uint32_t cores, std::uint32_t ranks_here) noexcept {
  const bool waits =
      std::any_of(grid.models.begin(), grid.models.end(), [](const auto& model) { return has_endpoint(model.api); });
  return std::max(1U, cores * (waits ? 8U : 2U) / std::max(1U, ranks_here));
}

Layout layout_of(const Grid& grid) {
  const auto& slurm = grid.slurm;
  const auto lanes =
      grid.lanes > 0 ? grid.lanes : auto_lanes(grid, slurm.cpus_per_rank * slurm.ranks_per_node, slurm.ranks_per_node);
  return {slurm.shards, slurm.throttle, slurm.nodes, slurm.ranks_per_node, lanes};
}

RunSimulator::RunSimulator(const Grid& grid, const Plan& plan, const CostTable& costs, std::uint64_t seed)
    : endpoints_(limited_endpoints(grid)), cpus_per_rank_(std::max(1U, grid.slurm.cpus_per_rank)) {
  for (const auto& model : grid.models) {
    models_.push_back(model.name);
    concurrency_.push_back(model.concurrency);
  }
  std::vector<double> seconds(costs.costs.size());
  std::transform(costs.costs.begin(), costs.costs.end(), seconds.begin(),
                 [](const auto& cost) { return cost.seconds; });
  Draws draws(keyed_hash({std::to_string(seed), "simulate"}));
  std::vector<double> of_cell(plan.cells.size());
  const auto order = longest_first(plan, seconds, "deal");
  episodes_.reserve(order.size());
  for (const auto i : order) {
    const auto& episode = plan.episodes[i];
    const double expected = seconds[episode.cell * costs.tasks + episode.task];
    const double drawn = expected * costs.factors[draws.below(costs.factors.size())];
    episodes_.push_back({static_cast<float>(expected), static_cast<float>(drawn), episode.cell});
    of_cell[episode.cell] += drawn;
  }
  const double all = std::accumulate(of_cell.begin(), of_cell.end(), 0.0);
  const double waits = std::inner_product(of_cell.begin(), of_cell.end(), costs.endpoint_share.begin(), 0.0);
  const double slowdown = costs.learnt && all > 0 ? slowdown_of(layout_of(grid), cpus_per_rank_, 1 - waits / all) : 1;
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    const double endpoint = costs.endpoint_share[c], compute = (1 - endpoint) / slowdown, alone = endpoint + compute;
    const auto model = std::find(models_.begin(), models_.end(), plan.cells[c].model) - models_.begin();
    cells_.push_back(
        {.endpoint = endpoint, .alone = alone, .compute = compute / alone, .model = static_cast<std::uint32_t>(model)});
    work_ += of_cell[c] * alone;
    compute_ += of_cell[c] * compute;
  }
  for (const auto& episode : episodes_) longest_ = std::max(longest_, episode.drawn * cells_[episode.cell].alone);
}

/// No element ends before its endpoints have served it: seconds of requests over how many it may have in flight.
/// @param waits seconds at the endpoint, by model @param model becomes the one that decides
double RunSimulator::endpoint_seconds(const std::vector<double>& waits, const EndpointPart& part,
                                      std::string& model) const {
  double most = 0;
  const auto bound = [&](double seconds, std::uint32_t limit, std::uint32_t of) {
    if (seconds / part.of(limit) <= most) return;
    most = seconds / part.of(limit);
    model = models_[of];
  };
  for (const auto& endpoint : endpoints_) {
    double all = 0;
    auto busiest = endpoint.models.front();
    for (const auto m : endpoint.models) {
      all += waits[m];
      if (waits[m] > waits[busiest]) busiest = m;
    }
    bound(all, endpoint.concurrency, busiest);
    for (const auto m : endpoint.models) bound(waits[m], concurrency_[m], m);
  }
  return most;
}

SimulatedRun RunSimulator::simulate(const Layout& layout) const {
  struct Element {
    ElementLanes lanes;
    std::vector<double> waits;  ///< [s] at the endpoint, by model
  };
  const double cores = static_cast<double>(cpus_per_rank_) * layout.ranks_per_node;
  const std::vector<double> none(endpoints_.empty() ? 0 : models_.size());
  std::vector<Element> elements(layout.shards,
                                {ElementLanes(layout.nodes, layout.ranks_per_node * layout.lanes, cores), none});
  ShardSpreader spreader(layout.shards);
  for (const auto& episode : episodes_) {
    auto& element = elements[spreader.next(episode.expected)];
    const auto& cell = cells_[episode.cell];
    element.lanes.run(episode.drawn * cell.alone + kDealSeconds, cell.compute);
    if (!none.empty()) element.waits[cell.model] += episode.drawn * cell.endpoint;
  }
  SimulatedRun run;
  Slots slots(layout.elements_at_once());
  EndpointPart part{.shard = 0, .at_once = layout.elements_at_once()};
  double busy = 0, core_seconds = 0;
  for (auto& element : elements) {
    std::string model;
    const double worked = element.lanes.finish(),
                 endpoint = none.empty() ? 0 : endpoint_seconds(element.waits, part, model);
    const double seconds = kElementSeconds + std::max(worked, endpoint);
    slots.run(seconds);
    busy += element.lanes.busy();
    core_seconds += element.lanes.core_seconds();
    run.node_seconds += seconds * layout.nodes;
    ++part.shard;
    if (seconds <= run.longest_element) continue;
    run.longest_element = seconds;
    run.limited_by = endpoint > worked ? model : std::string();
  }
  const double nodes = static_cast<double>(layout.elements_at_once()) * layout.nodes;
  const double lanes = static_cast<double>(layout.ranks_per_node) * layout.lanes;
  run.makespan = slots.last();
  run.ideal = std::max({work_ / (nodes * lanes), compute_ / (nodes * cores), longest_});
  if (run.node_seconds > 0) {
    run.busy = busy / (run.node_seconds * lanes);
    run.cores_busy = core_seconds / (run.node_seconds * cores);
  }
  return run;
}

}  // namespace nkigrid::jobs
