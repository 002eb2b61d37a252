#include "runner/dealer.hpp"

#include <algorithm>
#include <optional>
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

Dealer::Dealer(const jobs::Plan& plan, const jobs::Grid& grid, std::vector<std::uint32_t> order,
               const log::Ledger& ledger, bool with_parked, std::uint32_t owner)
    : plan_(plan),
      grid_(grid),
      first_attempt_(owner),
      spent_models_(grid.models.size()),
      spent_cells_(plan.cells.size()),
      stopped_models_(grid.models.size()),
      stopped_cells_(plan.cells.size()),
      episodes_(order.size()) {
  for (const auto& cell : plan.cells) {
    const auto at = std::find_if(grid.models.begin(), grid.models.end(),
                                 [&](const auto& model) { return model.name == cell.model; });
    model_of_cell_.push_back(static_cast<std::uint32_t>(at - grid.models.begin()));
  }
  for (const auto episode : order) {
    const auto& state = ledger.states[episode];
    spend(episode, state.spent_usd, state.spent_tokens);
    if (const auto& end = ledger.ends[episode]; state.is_scored() && end) {
      ++scored_;
      passed_ += end->outcome == Outcome::pass ? 1 : 0;
      continue;
    }
    if (!state.is_to_run(with_parked)) continue;
    if (state.attempts > 0) {
      const bool parked = state.outstanding == log::Outstanding::parked;
      const bool of_node = state.last_failure == log::Outstanding::verifier_error ||
                           state.last_failure == log::Outstanding::device_error;
      // A parked one that is asked for again gets its tries anew, away from the node that failed it.
      tries_.emplace(episode, Tries{.attempts = std::max(state.attempts, owner - 1),
                                    .infra_failures = parked ? 0 : state.infra_failures,
                                    .dead_attempt = state.unfinished ? state.attempts : 0,
                                    .has_history = true,
                                    .last_node = state.last_node,
                                    .failed_on = !parked && of_node ? state.last_node : ""});
    }
    if (state.suspect) blame_.suspect(episode);
    waiting_.add(episode);
  }
  const auto has_wall = [](const auto& of) { return of.budget.wall.has_value(); };
  has_wall_budget_ = grid.budget.wall || std::any_of(grid.models.begin(), grid.models.end(), has_wall) ||
                     std::any_of(plan.cells.begin(), plan.cells.end(), has_wall);
  for (std::uint32_t cell = 0; cell < plan.cells.size(); ++cell) check_budgets(cell);
}

bool Dealer::may_deal(std::uint32_t episode) const {
  const auto cell = plan_.episodes[episode].cell;
  return !stopped_models_[model_of(cell)] && !stopped_cells_[cell];
}

const std::string& Dealer::failed_on(std::uint32_t episode) const {
  static const std::string none;
  const auto at = tries_.find(episode);
  return at != tries_.end() ? at->second.failed_on : none;
}

std::vector<Assignment> Dealer::deal(std::uint32_t count, const std::string& node) {
  nodes_.insert(node);
  std::vector<Assignment> work;
  const bool other_node = std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& other) {
    return other != node && !log::eats_episodes(blame_.tally(other));
  });
  if (stopped_ || (other_node && log::eats_episodes(blame_.tally(node)))) return work;
  const auto avoided = other_node ? std::optional(node) : std::nullopt;
  while (work.size() < count) {
    const auto episode = waiting_.take(avoided, [&](std::uint32_t e) -> const std::string& { return failed_on(e); });
    if (!episode) break;
    auto& tries = tries_.try_emplace(*episode, Tries{.attempts = first_attempt_ - 1}).first->second;
    tries.in_flight = true;
    tries.dealt = dealt_++;
    ++in_flight_;
    work.push_back({.episode = *episode,
                    .attempt = ++tries.attempts,
                    .dead_attempt = std::exchange(tries.dead_attempt, 0),
                    .dead_is_spent = tries.dead_is_spent,
                    .dead_node = tries.last_node,
                    .resumed = tries.has_history});
  }
  return work;
}

void Dealer::take(const Done& done) {
  spend(done.episode, done.cost_usd, done.tokens);
  auto& tries = tries_.at(done.episode);
  if (std::exchange(tries.in_flight, false)) --in_flight_;
  tries.has_history = tries.has_history || done.begun;
  if (done.ended) see_node(done, tries);
  if (!done.ended) {
    if (!done.begun) {
      --tries.attempts;
      tries.dead_attempt = done.dead_attempt;  // its row is still to be written
    } else {
      tries.dead_attempt = tries.attempts;
      tries.dead_is_spent = true;
    }
  } else if (is_scored(done.outcome)) {
    ++scored_;
    passed_ += done.outcome == Outcome::pass ? 1 : 0;
    tries_.erase(done.episode);
    check_budgets(plan_.episodes[done.episode].cell);
    return;
  } else {
    ++failed_attempts_;
    tries.last_node = done.node;
    // An endpoint's failure is no node's: the same node may try again.
    tries.failed_on = log::is_of_node(done.outcome) ? done.node : "";
    last_failure_ = fmt::format("{}: {}", to_string(done.outcome), done.reason);
    if (!log::is_of_node(done.outcome)) ++tries.infra_failures;
  }
  put_back(done.episode, tries);
  check_budgets(plan_.episodes[done.episode].cell);
}

/// It stays outstanding: it waits again, or is parked with its reason in the log until `resume --parked`.
void Dealer::put_back(std::uint32_t episode, Tries& tries) {
  tries.parked = log::is_parked(tries.infra_failures + blame_.counted(episode), grid_.infra_retries);
  if (!tries.parked && may_deal(episode)) waiting_.add_back(episode, tries.failed_on);
}

/// What a node failed that is now found out is given back: parked episodes among it wait again, for another node.
void Dealer::see_node(const Done& done, const Tries& tries) {
  const auto given_back = blame_.see(done.node, {.episode = done.episode,
                                                 .outcome = done.outcome,
                                                 .on_device = done.on_device,
                                                 .begun = static_cast<double>(tries.dealt),
                                                 .ended = static_cast<double>(dealt_)});
  for (const auto episode : given_back) {
    const auto at = tries_.find(episode);
    if (at != tries_.end() && at->second.parked) put_back(episode, at->second);
  }
  if (log::is_of_node(done.outcome)) stop_without_nodes(done);
}

/// With nodes alone that eat what they are given: stop, however few wait. `resume` excludes such a node.
void Dealer::stop_without_nodes(const Done& done) {
  nodes_.insert(done.node);
  const auto eats = [&](const auto& node) { return log::eats_episodes(blame_.tally(node)); };
  if (stopped_ || !std::all_of(nodes_.begin(), nodes_.end(), eats)) return;
  const auto& tally = blame_.tally(done.node);
  stop_all(fmt::format("node {}: its device failed {} attempts and had a part in {} scores; the last one: {}: {}",
                       done.node, tally.failures, tally.scored, to_string(done.outcome), done.reason));
}

std::vector<std::uint32_t> Dealer::resumed() const {
  auto episodes = waiting_.rest_of_order();
  std::erase_if(episodes, [&](std::uint32_t episode) {
    const auto at = tries_.find(episode);
    return at == tries_.end() || !at->second.has_history;
  });
  return episodes;
}

void Dealer::spend(std::uint32_t episode, double usd, std::uint64_t tokens) {
  const auto cell = plan_.episodes[episode].cell;
  add(spent_, usd, tokens);
  add(spent_models_[model_of(cell)], usd, tokens);
  add(spent_cells_[cell], usd, tokens);
}

void Dealer::check_budgets(std::uint32_t cell) {
  const auto& spec = plan_.cells[cell];
  const auto& model = grid_.models[model_of(cell)];
  if (const auto limit = used_up(grid_.budget, spent_, elapsed_); !limit.empty())
    stop_all("budget: " + limit + " is used up");
  if (const auto limit = used_up(model.budget, spent_models_[model_of(cell)], elapsed_); !limit.empty())
    stop(stopped_models_[model_of(cell)], fmt::format("budget: {} of model {} is used up", limit, model.name),
         Whose::model);
  if (const auto limit = used_up(spec.budget, spent_cells_[cell], elapsed_); !limit.empty())
    stop(stopped_cells_[cell], fmt::format("budget: {} of cell {} is used up", limit, spec.id), Whose::cell);
}

/// Cells stop by the dozen when the time is nearly over: one says it for all.
void Dealer::tell(const std::string& reason, Whose whose) {
  if (whose != Whose::model && std::exchange(told_other_, true)) return;
  stopped_by_ += (stopped_by_.empty() ? "" : "; ") + reason;
}

void Dealer::stop(bool& stopped, const std::string& reason, Whose whose) {
  if (std::exchange(stopped, true)) return;
  tell(reason, whose);
  waiting_.erase_if([&](std::uint32_t episode) { return !may_deal(episode); });
}

void Dealer::stop_model(const std::string& model, const std::string& reason) {
  for (std::size_t i = 0; i < grid_.models.size(); ++i) {
    if (grid_.models[i].name == model) stop(stopped_models_[i], reason, Whose::model);
  }
}

void Dealer::stop_cell(const std::string& cell, const std::string& reason) {
  for (std::size_t i = 0; i < plan_.cells.size(); ++i) {
    if (plan_.cells[i].id == cell) stop(stopped_cells_[i], reason, Whose::cell);
  }
}

void Dealer::stop_all(const std::string& reason) {
  stopped_ = true;
  tell(reason, Whose::run);
}

void Dealer::set_elapsed(Seconds wall) {
  elapsed_ = wall;
  if (!has_wall_budget_) return;
  for (std::uint32_t cell = 0; cell < plan_.cells.size(); ++cell) check_budgets(cell);
}

}  // namespace nkigrid::runner
