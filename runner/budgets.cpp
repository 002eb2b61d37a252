#include "runner/budgets.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

namespace nkigrid::runner {
namespace {

bool is_set(const jobs::Budget& budget) { return budget.usd || budget.tokens || budget.wall; }

/// "5", or "1.25 (this shard's part of 5)".
template <class T>
std::string part_of(T part, T whole) {
  return part == whole ? fmt::format("{}", whole) : fmt::format("{} (this shard's part of {})", part, whole);
}

}  // namespace

bool has_budget(const jobs::Grid& grid) {
  const auto has = [](const auto& of) { return is_set(of.budget); };
  return is_set(grid.budget) || std::any_of(grid.models.begin(), grid.models.end(), has) ||
         std::any_of(grid.cells.begin(), grid.cells.end(), has);
}

/// What shards have of one budget: their planned episodes, what these spent, and whether any is to be played.
struct Budgets::Shares {
  struct Shard {
    std::uint64_t episodes = 0, tokens = 0;
    double usd = 0;
    bool is_own = false, is_open = false;
  };
  std::map<std::uint32_t, Shard> shards;

  void add(std::uint32_t shard, const log::EpisodeState& state, bool is_own, bool with_parked) {
    auto& of = shards[shard];
    ++of.episodes;
    of.usd += state.spent_usd;
    of.tokens += state.spent_tokens;
    of.is_own = of.is_own || is_own;
    of.is_open = of.is_open || state.is_to_run(with_parked);
  }
};

Budgets::Budgets(const jobs::Plan& plan, const jobs::Grid& grid, const log::Ledger& ledger,
                 const std::vector<std::uint32_t>& order, bool with_parked) {
  for (const auto& model : grid.models) models_.push_back({.whole = model.budget, .part = {}});
  for (const auto& cell : plan.cells) {
    cells_.push_back({.whole = cell.budget, .part = {}});
    const auto at = std::find_if(grid.models.begin(), grid.models.end(),
                                 [&](const auto& model) { return model.name == cell.model; });
    model_of_cell_.push_back(static_cast<std::uint32_t>(at - grid.models.begin()));
  }
  run_.whole = grid.budget;
  std::vector<bool> is_own(plan.episodes.size(), false);
  for (const auto episode : order) is_own[episode] = true;
  Shares all;
  std::vector<Shares> of_models(models_.size()), of_cells(cells_.size());
  for (std::uint32_t i = 0; i < plan.episodes.size(); ++i) {
    const auto& [cell, task, replicate, shard] = plan.episodes[i];
    for (auto* shares : {&all, &of_models[model_of_cell_[cell]], &of_cells[cell]})
      shares->add(shard, ledger.states[i], is_own[i], with_parked);
  }
  share_out(run_, all);
  for (std::size_t i = 0; i < models_.size(); ++i) share_out(models_[i], of_models[i]);
  for (std::size_t i = 0; i < cells_.size(); ++i) share_out(cells_[i], of_cells[i]);
}

/// A part is of what the shards that are through have left, by planned episodes of those that are not. So a part never
/// shrinks from one start to the next, and parts that were given at different times are not more than the whole.
void Budgets::share_out(Account& account, const Shares& shares) {
  double through_usd = 0, own = 0, open = 0;
  std::uint64_t through_tokens = 0;
  for (const auto& [number, shard] : shares.shards) {
    if (shard.is_own) {
      own += static_cast<double>(shard.episodes);
      account.usd += shard.usd;
      account.tokens += shard.tokens;
    } else if (shard.is_open) {
      open += static_cast<double>(shard.episodes);
    } else {
      through_usd += shard.usd;
      through_tokens += shard.tokens;
    }
  }
  account.part = account.whole;
  has_wall_ = has_wall_ || account.whole.wall;
  if (own == 0 || (open == 0 && through_usd == 0 && through_tokens == 0)) return;
  const double share = own / (own + open);
  if (auto& usd = account.part.usd) usd = std::max(0.0, *usd - through_usd) * share;
  if (auto& tokens = account.part.tokens)
    tokens = static_cast<std::uint64_t>(static_cast<double>(*tokens - std::min(*tokens, through_tokens)) * share);
}

void Budgets::spend(std::uint32_t cell, double usd, std::uint64_t tokens) {
  for (auto* account : {&run_, &models_[model_of_cell_[cell]], &cells_[cell]}) {
    account->usd += usd;
    account->tokens += tokens;
  }
}

std::string Budgets::used_up(const Account& account) const {
  const auto& [usd, tokens, wall] = account.part;
  if (usd && account.usd >= *usd) return fmt::format("budget.usd {}", part_of(*usd, *account.whole.usd));
  if (tokens && account.tokens >= *tokens)
    return fmt::format("budget.tokens {}", part_of(*tokens, *account.whole.tokens));
  if (wall && elapsed_ >= *wall) return fmt::format("budget.wall {} s", wall->count());
  return {};
}

}  // namespace nkigrid::runner
