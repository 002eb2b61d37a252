#include "runner/dealer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace nkigrid::runner {

Dealer::Dealer(const jobs::Plan& plan, const jobs::Grid& grid, std::vector<std::uint32_t> order,
               const log::Ledger& ledger, bool with_parked, std::uint32_t owner)
    : plan_(plan),
      grid_(grid),
      first_attempt_(owner),
      budgets_(plan, grid, ledger, order, with_parked),
      stopped_models_(grid.models.size()),
      stopped_cells_(plan.cells.size()),
      episodes_(order.size()) {
  for (const auto episode : order) {
    const auto& state = ledger.states[episode];
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
  check_all_budgets();
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
                    .dead_node = tries.last_node,
                    .resumed = tries.has_history});
  }
  return work;
}

void Dealer::take(const Done& done) {
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
    }
  } else if (is_scored(done.outcome)) {
    ++scored_;
    passed_ += done.outcome == Outcome::pass ? 1 : 0;
    tries_.erase(done.episode);
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

void Dealer::spend(const Spent& spent) {
  budgets_.spend(spent.cell, spent.cost_usd, spent.tokens);
  check_budgets(spent.cell);
}

void Dealer::check_budgets(std::uint32_t cell) {
  const auto words = [](const std::string& limit, const std::string& whose) {
    return fmt::format("budget: {}{} is used up (give a larger one in the grid, and run it again)", limit, whose);
  };
  if (const auto limit = budgets_.of_run(); !limit.empty() && !stopped_) stop_all(words(limit, ""));
  const auto model = model_of(cell);
  if (const auto limit = budgets_.of_model(model); !limit.empty() && !stopped_models_[model]) {
    for (std::uint32_t other = 0; other < plan_.cells.size(); ++other) {
      if (model_of(other) == model) closed_.push_back(other);
    }
    stop(stopped_models_[model], words(limit, " of model " + grid_.models[model].name), Whose::model);
  }
  if (const auto limit = budgets_.of_cell(cell); !limit.empty() && !stopped_cells_[cell]) {
    closed_.push_back(cell);
    stop(stopped_cells_[cell], words(limit, " of cell " + plan_.cells[cell].id), Whose::cell);
  }
}

void Dealer::check_all_budgets() {
  for (std::uint32_t cell = 0; cell < plan_.cells.size(); ++cell) check_budgets(cell);
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
  budgets_.set_elapsed(wall);
  if (budgets_.has_wall()) check_all_budgets();
}

}  // namespace nkigrid::runner
