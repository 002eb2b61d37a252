#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "jobs/plan.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::runner {

/// True when the grid bounds anything: only then must lanes tell what replies cost.
bool has_budget(const jobs::Grid& grid);

/// What the run, its models and its cells have used up, against their budgets. Where several shards have a budget in
/// common, each has its part of it, by its planned episodes: they know nothing of each other while they work, and all
/// parts together are never more than the budget. What shards that are through have left is the others' at their next
/// start. Pure state, no clock.
class Budgets {
 public:
  /// @param order episodes of this session @param ledger what all attempts have spent so far, of all shards
  Budgets(const jobs::Plan& plan, const jobs::Grid& grid, const log::Ledger& ledger,
          const std::vector<std::uint32_t>& order, bool with_parked);

  void spend(std::uint32_t cell, double usd, std::uint64_t tokens);
  void set_elapsed(Seconds wall) { elapsed_ = wall; }  ///< since the session began
  bool has_wall() const noexcept { return has_wall_; }

  // Which limit is used up, in words, or "".
  std::string of_run() const { return used_up(run_); }
  std::string of_model(std::uint32_t model) const { return used_up(models_[model]); }
  std::string of_cell(std::uint32_t cell) const { return used_up(cells_[cell]); }
  std::uint32_t model_of(std::uint32_t cell) const { return model_of_cell_[cell]; }

 private:
  /// One budget: what of it this session may use, and what is used.
  struct Account {
    jobs::Budget whole, part;
    double usd = 0;
    std::uint64_t tokens = 0;
  };
  struct Shares;
  std::string used_up(const Account& account) const;
  void share_out(Account& account, const Shares& shares);

  Account run_;
  std::vector<Account> models_, cells_;  ///< parallel to grid.models and plan.cells
  std::vector<std::uint32_t> model_of_cell_;
  Seconds elapsed_{0};
  bool has_wall_ = false;
};

}  // namespace nkigrid::runner
