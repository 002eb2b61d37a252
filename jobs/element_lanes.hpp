#pragma once

#include <cstdint>
#include <vector>

namespace nkigrid::jobs {

/// The lanes of one element in simulated time: a stream of episodes, each begun where a lane comes free first. Episodes
/// alternate between waiting for an endpoint and work on a core; where a node's lanes want more cores than it has, all
/// of its episodes slow down alike (processor sharing, with the alternation taken as fine). An episode costs
/// O(log(lanes of a node) + log(nodes)).
/// @source virtual time of a processor sharing queue: Kleinrock, Queueing Systems II (1976), 4.4
class ElementLanes {
 public:
  /// @param cores of a node
  ElementLanes(std::uint32_t nodes, std::uint32_t lanes_of_node, double cores);

  /// Begins the next episode. @param seconds that it takes when nothing is in its way @param compute the part of them
  /// on a core, 0 to 1
  void run(double seconds, double compute);

  /// Ends what runs. @returns when the last episode ended [s]
  double finish();

  double busy() const noexcept { return busy_; }                ///< lane seconds in which an episode ran, so far
  double core_seconds() const noexcept { return cores_used_; }  ///< of work on cores, so far

 private:
  struct Running {
    double end = 0;  ///< on the node's virtual clock, which slows down with the node
    double compute = 0;
  };
  /// One node: `now` is when it last began or ended an episode.
  struct Node {
    std::vector<Running> running;  ///< a heap, next to end first
    double now = 0, virtual_now = 0, demand = 0;
    double slowdown(double cores) const noexcept { return demand > cores ? demand / cores : 1.0; }
    double next_end(double cores) const noexcept { return now + (running.front().end - virtual_now) * slowdown(cores); }
  };
  void advance(Node& node);
  void sink();

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> order_;  ///< nodes with a full set of lanes, a heap by their next end
  std::vector<double> next_end_;      ///< by node
  std::uint32_t lanes_ = 1;
  std::uint64_t begun_ = 0;
  double cores_ = 1, busy_ = 0, cores_used_ = 0;
};

}  // namespace nkigrid::jobs
