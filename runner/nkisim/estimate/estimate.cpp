#include "runner/nkisim/estimate/estimate.hpp"

#include <algorithm>
#include <map>

#include "runner/nkisim/estimate/busy.hpp"
#include "runner/nkisim/estimate/residence.hpp"
#include "runner/nkisim/estimate/restructure.hpp"

// Goes over the program once, not over its trips: each node counts as often as the loops, the grid and the branches
// around it say, so an estimate costs the same for a million trips as for one.
namespace nkigrid::nkisim {
namespace {

class Estimator {
 public:
  explicit Estimator(const Program& program)
      : program_(restructured(program)), costs_(program_), residence_(program_) {}

  Busy run() {
    double instances = 1;
    for (const std::int64_t extent : program_.grid) instances *= static_cast<double>(extent);
    region(program_.body, nullptr, instances);
    return busy_;
  }

 private:
  void region(const Block& body, const Loop* loop, double times) {
    const Overflow overflow = residence_.overflow_of(loop);
    busy_.spill(overflow.saved, overflow.restored, times);
    busy_.reload(overflow.reloaded, times);
    if (loop != nullptr) loops_.push_back(loop);
    block(body, times);
    if (loop != nullptr) loops_.pop_back();
  }
  void block(const Block& nodes, double times) {
    for (const Node& node : nodes) {
      if (const Loop* loop = std::get_if<Loop>(&node.what)) {
        region(loop->body, loop, times * static_cast<double>(loop->trips));
      } else if (const If* branch = std::get_if<If>(&node.what)) {
        const auto share = costs_.share_of(branch->conditions);
        block(branch->then_body, times * share.value_or(1));
        block(branch->else_body, times * (share ? 1 - *share : 1));
      } else {
        std::visit([&](const auto& what) { operation(what, times); }, node.what);
      }
    }
  }

  void operation(const Map& map, double times) {
    const bool is_load = map.head.instr == Instr::load && map.sources[0].kind == Source::Kind::access;
    busy_.add(costs_.of(map), is_load ? times / residence_.trips_saved(map, loops_) : times);
    for (const Source& source : map.sources) {
      if (source.kind != Source::Kind::access || !is_repeated(program_, map, source.access)) continue;
      busy_.add(costs_.of_repeating(map.head, source.access), times / trips_of_a_tile(source.access.buffer));
    }
  }
  /// Of the loops in which a tile stays the same.
  double trips_of_a_tile(std::uint32_t buffer) const {
    const auto depth = depths_.find(root_of(program_, buffer));
    double trips = 1;
    for (std::size_t k = depth == depths_.end() ? 0 : depth->second; k < loops_.size(); ++k)
      trips *= std::max(1.0, static_cast<double>(loops_[k]->trips));
    return trips;
  }
  template <class Op>
  void operation(const Op& op, double times) {
    busy_.add(costs_.of(op), times);
  }
  void operation(const Loop&, double) {}
  void operation(const If&, double) {}
  void operation(const Alloc& alloc, double) { depths_[alloc.buffer] = loops_.size(); }

  const Program program_;  ///< its copy: residence and the open loops point into it
  CostModel costs_;
  Residence residence_;
  std::vector<const Loop*> loops_;               ///< open ones
  std::map<std::uint32_t, std::size_t> depths_;  ///< of a tensor's alloc: loops around it
  Busy busy_;
};

}  // namespace

double estimate_us(const Program& program) { return Estimator(program).run().us(); }

Profile profile_of(const Program& program) {
  const Busy busy = Estimator(program).run();
  return {busy.us(), busy.us_by_lane(), busy.traffic(), busy.spilled_bytes(), busy.flops(), busy.roofline_us()};
}

}  // namespace nkigrid::nkisim
