#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runner/nkisim/program/liveness.hpp"
#include "runner/nkisim/program/program.hpp"

/// What stands in SBUF at a time, and what the vendor's compiler therefore moves more or less often than the program
/// says. docs/decisions/estimate.md. Internal to the room.
namespace nkigrid::nkisim {

/// Bytes that move each time that a region runs, since what lives in it does not fit.
struct Overflow {
  double saved = 0;     ///< go out to HBM
  double restored = 0;  ///< of these, come back: at each sweep that reads them
  double reloaded = 0;  ///< were only loaded, and are loaded again where they are read
};

/// A region is a loop's body with the branches in it; null stands for the program.
class Residence {
 public:
  explicit Residence(const Program& program);

  Overflow overflow_of(const Loop* region) const;
  /// The loops that a load stands in, of which it is taken out: those that do not move what it loads, from the inside
  /// out, as far as all that it loads in the others fits into SBUF. Takes the room. @returns the product of their trips
  double trips_saved(const Map& load, const std::vector<const Loop*>& loops);

 private:
  /// A tensor in SBUF, in the region that its memory is taken in.
  struct Tenant {
    const Loop* region = nullptr;
    double bytes = 0;
    bool placed = false;                     ///< its alloc was seen
    std::optional<std::size_t> first, last;  ///< nodes of the region's body that use it
    std::size_t writers = 0, loads = 0;
    double more_sweeps = 0;                    ///< how often its readers go over it, less once each
    double write_sweeps = 0, read_sweeps = 0;  ///< how often the one goes over it that does so most
  };
  void survey(const Block& nodes, bool is_body);
  template <class Op>
  void uses(const Op& op);
  void use(const Access& access, bool written, bool by_load);
  double sweeps_of(const Access& access, std::size_t depth) const;
  double evict(const Tenant& tenant, double excess, Overflow& overflow) const;
  void survey(const Loop& loop);
  double peak_of(const Block& body, const Loop* region);
  void within(const Block& nodes, std::size_t at, bool is_body, std::vector<double>& demand);
  void surround(const Block& nodes, std::size_t at, bool is_body, const std::vector<double>& standing);
  bool moves(const Access& access, const Loop& loop) const;

  const Program& program_;
  std::vector<Home> homes_;
  std::vector<Tenant> tenants_;  ///< by root buffer
  std::map<const Loop*, std::vector<std::uint32_t>> by_region_;
  std::map<const Loop*, double> peaks_, resident_;
  std::map<const Loop*, double> around_;  ///< what stands in the regions around a loop while it runs
  std::map<const Loop*, Overflow> overflows_;
  std::vector<const Loop*> loops_;  ///< open ones
  std::vector<std::size_t> path_;   ///< the node that is looked at, in the program's body and in each open loop's
};

}  // namespace nkigrid::nkisim
