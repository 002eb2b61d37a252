#include "runner/model/synthetic/faults.hpp"

namespace nkigrid::model {
namespace {

/// Faults of numbers first: the edits that rename things would take their holds away.
const std::vector<Fault>& catalogue() {
  static const std::vector<Fault> faults = [] {
    std::vector<Fault> all = number_faults();
    for (auto group : {tile_faults(), name_faults()}) all.insert(all.end(), group.begin(), group.end());
    return all;
  }();
  return faults;
}

}  // namespace

std::span<const Fault> all_faults() { return catalogue(); }

}  // namespace nkigrid::model
