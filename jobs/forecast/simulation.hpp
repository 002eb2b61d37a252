#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/endpoints.hpp"
#include "jobs/forecast/costs.hpp"

/// How long a plan takes on a cluster, by a discrete-event simulation of the dealing that the runner does.
namespace nkigrid::jobs {

/// One choice of `slurm:` and `lanes`.
struct Layout {
  std::uint32_t shards = 1, throttle = 0;  ///< throttle 0: all elements at once
  std::uint32_t nodes = 1, ranks_per_node = 1;
  std::uint32_t lanes = 1;  ///< a rank

  std::uint32_t elements_at_once() const noexcept { return throttle == 0 || throttle > shards ? shards : throttle; }
  bool operator==(const Layout&) const = default;
};

/// Lanes of a rank where the grid says `auto`: a lane that waits for tokens costs nothing, one that compiles costs a
/// core.
/// @param cores that this machine gives to all of its ranks
std::uint32_t auto_lanes(const Grid& grid, std::uint32_t cores, std::uint32_t ranks_here) noexcept;

/// The grid's own choice; `auto` lanes as on nodes that give each rank its cpus_per_rank.
Layout layout_of(const Grid& grid);

struct SimulatedRun {
  double makespan = 0;  ///< from the first element's start to the last one's end [s]; no waits in Slurm's queue
  double ideal = 0;  ///< no dealing can be faster: the work over all lanes or cores at once, or the longest episode [s]
  double longest_element = 0;  ///< [s]
  double node_seconds = 0;     ///< allocated: elements' time x nodes
  double busy = 0;             ///< share of the allocated lanes' time in which an episode ran
  double cores_busy = 0;       ///< share of the allocated cores' time in which an episode compiled or verified
  std::string limited_by;      ///< model whose endpoint's concurrency decides the longest element, or ""
};

/// Starting and ending mpirun, MPI and fork servers, once an element [s]. @source measured: 1.9 s for 8 ranks over 4
/// nodes of one machine
inline constexpr double kElementSeconds = 2.0;
/// From an episode's end until its lane has the next one [s]. @source measured: `bench dealing`, a rank polls every 0.1
/// to 5 ms
inline constexpr double kDealSeconds = 0.002;

/// Draws every episode's seconds once, so that layouts are compared on the same draws, then simulates layouts one by
/// one. Expected seconds that were learnt were measured where lanes contended for cores: those are taken to be the
/// grid's own lanes on its own cores, and what they spent in one another's way is taken out. A prior's seconds know of
/// no contention.
class RunSimulator {
 public:
  /// @param seed of the draws; the same seed, plan and costs give the same bytes
  RunSimulator(const Grid& grid, const Plan& plan, const CostTable& costs, std::uint64_t seed);

  /// Spreads the episodes over shards as a freeze would, deals each shard longest first to its lanes, which share their
  /// node's slurm.cpus_per_rank x ranks cores, starts elements in their order as the throttle lets them. Each element
  /// has its part of the endpoints' concurrency. Takes O(episodes x log(lanes)).
  SimulatedRun simulate(const Layout& layout) const;

  double work() const noexcept { return work_; }  ///< of all episodes, each alone on its node [s]

 private:
  struct Episode {
    float expected, drawn;  ///< as the costs say [s]
    std::uint32_t cell;
  };
  /// What a second of a cell's costs is made of.
  struct CellPace {
    double endpoint = 0;  ///< waits for the endpoint
    double alone = 1;     ///< all of it, when nothing is in its way
    double compute = 0;   ///< share of `alone` on a core
    std::uint32_t model = 0;
  };
  double endpoint_seconds(const std::vector<double>& waits, const EndpointPart& part, std::string& model) const;

  std::vector<Episode> episodes_;  ///< longest expected first
  std::vector<CellPace> cells_;
  std::vector<Endpoint> endpoints_;
  std::vector<std::string> models_;
  std::vector<std::uint32_t> concurrency_;  ///< by model
  std::uint32_t cpus_per_rank_ = 1;
  double work_ = 0, compute_ = 0, longest_ = 0;
};

}  // namespace nkigrid::jobs
