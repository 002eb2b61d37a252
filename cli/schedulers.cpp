#include "cli/schedulers.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "slurm/scheduler.hpp"

namespace nkigrid::cli {
namespace {

struct Row {
  std::string_view name;
  std::unique_ptr<jobs::Scheduler> (*make_scheduler)();
  std::unique_ptr<jobs::Allocation> (*make_allocation)();
};

/// Every batch system that this program knows; the first one is asked where nobody names another.
constexpr std::array kSchedulers = {
    Row{"slurm", slurm::make_scheduler, slurm::make_allocation},
};

const Row& site_row() {
  const char* named = std::getenv("NKIGRID_SCHEDULER");
  if (named == nullptr || *named == '\0') return kSchedulers.front();
  const auto* const found =
      std::find_if(kSchedulers.begin(), kSchedulers.end(), [&](const Row& row) { return row.name == named; });
  if (found != kSchedulers.end()) return *found;
  std::vector<std::string_view> names;
  for (const auto& row : kSchedulers) names.push_back(row.name);
  throw Error(ErrorCode::usage,
              fmt::format("unknown scheduler '{}' in NKIGRID_SCHEDULER (legal: {}); name one of these", named,
                          fmt::join(names, ", ")));
}

}  // namespace

std::unique_ptr<jobs::Scheduler> site_scheduler() { return site_row().make_scheduler(); }

std::unique_ptr<jobs::Allocation> site_allocation() { return site_row().make_allocation(); }

}  // namespace nkigrid::cli
