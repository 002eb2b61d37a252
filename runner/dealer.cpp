#include "runner/dealer.hpp"

#include <utility>

#include <fmt/core.h>

namespace nkigrid::runner {
namespace {

void add(Spent& spent, double usd, std::uint64_t tokens) {
  spent.usd += usd;
  spent.tokens += tokens;
}

/// Which limit of a budget is used up, or "".
std::string used_up(const jobs::Budget& budget, const Spent& spent, Seconds elapsed) {
  if (budget.usd && spent.usd >= *budget.usd) return fmt::format("budget.usd {}", *budget.usd);
  if (budget.tokens && spent.tokens >= *budget.tokens) return fmt::format("budget.tokens {}", *budget.tokens);
  if (budget.wall && elapsed >= *budget.wall) return fmt::format("budget.wall {} s", budget.wall->count());
  return {};
}

}  // namespace

Dealer::Dealer(const jobs::Plan& plan, const jobs::Grid& grid, std::vector<std::uint32_t> order, const log::Ledger& ledger, bool with_parked)
    : plan_(plan), grid_(grid), episodes_(order.size()) {
  for (const auto episode : order) {
    const auto& state = ledger.states[episode];
    if (const auto& end = ledger.ends[episode]; state.counted_attempt > 0 && end) {
      ++scored_;
      passed_ += end->outcome == Outcome::pass ? 1 : 0;
      spend(episode, Done{.episode = episode, .tokens = end->tokens_in + end->tokens_out, .cost_usd = end->cost_usd});
      continue;
    }
    Progress progress{.attempts = state.attempts, .infra_failures = state.infra_failures,
                      .dead_attempt = state.unfinished ? state.attempts : 0, .last_node = state.last_node};
    if (state.outstanding == log::Outstanding::parked) {
      if (!with_parked) continue;
      progress.infra_failures = 0;  // asked for again: it gets its tries anew, away from the node that failed it
    }
    progress_.emplace(episode, std::move(progress));
    waiting_.push_back(episode);
  }
  check_budgets();
}

bool Dealer::may_deal(std::uint32_t episode) const {
  const auto& cell = plan_.cells[plan_.episodes[episode].cell];
  return !stopped_models_.contains(cell.model) && !stopped_cells_.contains(cell.id);
}

bool Dealer::exhausted() const {
  if (stopped_) return true;
  for (const auto episode : waiting_) {
    if (may_deal(episode)) return false;
  }
  return true;
}

std::vector<Assignment> Dealer::deal(std::uint32_t count, const std::string& node) {
  nodes_.insert(node);
  std::vector<Assignment> work;
  if (stopped_) return work;
  for (auto it = waiting_.begin(); it != waiting_.end() && work.size() < count;) {
    auto& progress = progress_.at(*it);
    const bool failed_here = progress.infra_failures > 0 && progress.last_node == node && nodes_.size() > 1;
    if (!may_deal(*it) || failed_here) {
      ++it;
      continue;
    }
    work.push_back({.episode = *it, .attempt = ++progress.attempts, .dead_attempt = std::exchange(progress.dead_attempt, 0),
                    .dead_node = progress.last_node});
    in_flight_.insert(*it);
    it = waiting_.erase(it);
  }
  return work;
}

void Dealer::take(const Done& done) {
  in_flight_.erase(done.episode);
  spend(done.episode, done);
  auto& progress = progress_.at(done.episode);
  if (!done.ended) {
    if (!done.begun) --progress.attempts;
    else progress.dead_attempt = progress.attempts;
    waiting_.push_back(done.episode);  // outstanding; dealt again only if nothing stops the run
  } else if (is_scored(done.outcome)) {
    ++scored_;
    passed_ += done.outcome == Outcome::pass ? 1 : 0;
    progress_.erase(done.episode);
  } else {
    ++failed_attempts_;
    progress.last_node = done.node;
    last_failure_ = fmt::format("{}: {}", to_string(done.outcome), done.reason);
    if (++progress.infra_failures < grid_.infra_retries) waiting_.push_back(done.episode);
    // else parked: outstanding with its reason in the log, until `resume --parked`
  }
  check_budgets();
}

void Dealer::spend(std::uint32_t episode, const Done& done) {
  const auto& cell = plan_.cells[plan_.episodes[episode].cell];
  add(spent_, done.cost_usd, done.tokens);
  add(spent_models_[cell.model], done.cost_usd, done.tokens);
  add(spent_cells_[cell.id], done.cost_usd, done.tokens);
}

void Dealer::check_budgets() {
  if (const auto limit = used_up(grid_.budget, spent_, elapsed_); !limit.empty()) stop_all("budget: " + limit + " is used up");
  for (const auto& model : grid_.models) {
    const auto limit = used_up(model.budget, spent_models_[model.name], elapsed_);
    if (!limit.empty()) stop_model(model.name, fmt::format("budget: {} of model {} is used up", limit, model.name));
  }
  for (const auto& cell : plan_.cells) {
    const auto limit = used_up(cell.budget, spent_cells_[cell.id], elapsed_);
    if (limit.empty() || !stopped_cells_.insert(cell.id).second) continue;
    if (stopped_by_.empty()) stopped_by_ = fmt::format("budget: {} of cell {} is used up", limit, cell.id);
  }
}

void Dealer::stop_model(const std::string& model, std::string reason) {
  if (stopped_models_.insert(model).second && stopped_by_.empty()) stopped_by_ = std::move(reason);
}

void Dealer::stop_all(std::string reason) {
  stopped_ = true;
  if (stopped_by_.empty()) stopped_by_ = std::move(reason);
}

void Dealer::set_elapsed(Seconds wall) {
  elapsed_ = wall;
  check_budgets();
}

}  // namespace nkigrid::runner
