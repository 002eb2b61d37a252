#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cli/row_writer.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/records.hpp"

namespace nkigrid::cli {

/// The reward_* columns of exported rows (docs/decisions/rewards.md).
class RewardColumns {
 public:
  explicit RewardColumns(const jobs::Run& run);
  /// @param task its place in the plan @param end null where nothing has ended: the columns are empty
  void put(RowWriter& rows, std::uint32_t task, const log::End* end, std::string_view findings) const;

 private:
  std::vector<double> roofline_us_;  ///< of each task of the plan
};

}  // namespace nkigrid::cli
