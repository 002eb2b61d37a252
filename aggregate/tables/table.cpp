#include "aggregate/tables/table.hpp"

namespace nkigrid::aggregate {

std::string nothing_counted(const Evidence& evidence) {
  return evidence.from_counts() ? "no cell has a `model` and a `mode`; add them to the counts file"
                                : "no episode is scored yet; `nkigrid run` or `resume` scores them";
}

}  // namespace nkigrid::aggregate
