#include "runner/lanes.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/agent/agent.hpp"
#include "runner/budgets.hpp"
#include "runner/gated_model.hpp"

namespace nkigrid::runner {
namespace {

/// The row of an attempt whose owner died: its next owner writes it, with what its replies cost.
log::End killed_row(const log::AttemptId& id, const jobs::Task& task, const std::string& node,
                    const std::vector<log::LoggedTurn>& history) {
  log::End end;
  end.id = id;
  end.level = task.level;
  end.category = task.category;
  end.outcome = Outcome::killed;
  end.reason = "its owner ended without a last record; taken over";
  end.turns = static_cast<std::uint32_t>(history.size());
  end.inherited_turns = static_cast<std::uint32_t>(std::count_if(
      history.begin(), history.end(), [&](const auto& turn) { return turn.reply.id.attempt < id.attempt; }));
  for (const auto& logged : history) {
    if (logged.paid_by != id.attempt) continue;
    end.tokens_in += logged.reply.tokens_in;
    end.tokens_out += logged.reply.tokens_out;
    end.tokens_cached += logged.reply.tokens_cached;
    end.cost_usd += logged.reply.cost_usd;
    end.api_retries += logged.reply.api_retries;
  }
  end.node = node;
  return end;
}

Done not_begun(const Assignment& assignment, const std::string& node) {
  return {.episode = assignment.episode,
          .ended = false,
          .begun = false,
          .dead_attempt = assignment.dead_attempt,
          .node = node};
}

}  // namespace

void Bell::ring() {
  {
    std::lock_guard lock(mutex_);
    pending_ = true;
  }
  rung_.notify_one();
}

void Bell::wait(Seconds at_most) {
  std::unique_lock lock(mutex_);
  rung_.wait_for(lock, at_most, [&] { return pending_; });
  pending_ = false;
}

LanePool::LanePool(const LaneContext& context, Bell& bell, std::uint32_t lanes)
    : context_(context),
      bell_(bell),
      closed_cells_(context.run.plan.cells.size()),
      tells_costs_(has_budget(context.run.grid)) {
  threads_.reserve(lanes);
  for (std::uint32_t i = 0; i < lanes; ++i) threads_.emplace_back([this](std::stop_token stop) { work(stop); });
}

LanePool::~LanePool() {
  drain();
  for (auto& thread : threads_) thread.request_stop();
}

void LanePool::give(std::vector<Assignment> work) {
  {
    std::lock_guard lock(mutex_);
    for (auto& assignment : work) waiting_.push_back(std::move(assignment));
  }
  if (closed_)
    close();  // it crossed the stop on its way: goes back
  else
    arrived_.notify_all();
}

std::uint32_t LanePool::idle_lanes() const {
  std::lock_guard lock(mutex_);
  const auto busy = running_ + static_cast<std::uint32_t>(waiting_.size());
  const auto lanes = static_cast<std::uint32_t>(threads_.size());
  return closed_ || busy >= lanes ? 0 : lanes - busy;
}

std::uint32_t LanePool::queued() const {
  std::lock_guard lock(mutex_);
  const auto busy = running_ + static_cast<std::uint32_t>(waiting_.size());
  return busy > lanes() ? busy - lanes() : 0;
}

std::uint32_t LanePool::running() const {
  std::lock_guard lock(mutex_);
  return running_;
}

void LanePool::close() {
  closed_ = true;
  std::lock_guard lock(mutex_);
  for (const auto& assignment : std::exchange(waiting_, {}))
    events_.done.push_back(not_begun(assignment, context_.node));
  bell_.ring();
}

void LanePool::drain() {
  close();
  drain_.request_stop();
}

LanePool::Events LanePool::take_events() {
  std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

bool LanePool::idle() const {
  std::lock_guard lock(mutex_);
  return running_ == 0 && waiting_.empty() && events_.done.empty() && events_.troubles.empty() && events_.spent.empty();
}

void LanePool::work(std::stop_token stop) {
  for (;;) {
    Assignment assignment;
    {
      std::unique_lock lock(mutex_);
      if (!arrived_.wait(lock, stop, [&] { return !waiting_.empty(); })) return;
      assignment = std::move(waiting_.front());
      waiting_.pop_front();
      ++running_;
    }
    run_one(assignment);
    std::lock_guard lock(mutex_);
    --running_;
    bell_.ring();
  }
}

void LanePool::close_cells(const std::vector<std::uint32_t>& cells) {
  for (const auto cell : cells) closed_cells_[cell] = true;
}

bool LanePool::may_begin(std::uint32_t number) {
  if (closed_ || closed_cells_[number]) return false;
  const auto& cell = context_.run.plan.cells[number];
  if (context_.turns.fits(cell, context_.clock.monotonic())) return true;
  report(Trouble{.exit_code = ExitCode::incomplete,
                 .reason = fmt::format("time limit: no turn of cell {} can end in the time left", cell.id),
                 .cell = cell.id});
  return false;
}

/// Lanes that come after the one that found the endpoint away leave their attempts alike.
bool LanePool::is_outage(const jobs::CellSpec& cell, const model::ChatError& error) {
  if (error.failure == model::ChatFailure::away) context_.gate.give_up(cell.model);
  const bool told = error.failure != model::ChatFailure::fatal && error.failure != model::ChatFailure::context_full &&
                    context_.gate.given_up(cell.model);
  if (!told) return false;
  report(Trouble{.exit_code = ExitCode::external,
                 .reason = fmt::format("the endpoint is away, its episodes stay outstanding: {}", error.what()),
                 .model = cell.model});
  return true;
}

void LanePool::run_one(const Assignment& assignment) {
  const auto& planned = context_.run.plan.episodes[assignment.episode];
  const auto& cell = context_.run.plan.cells[planned.cell];
  if (!may_begin(planned.cell)) {
    report(not_begun(assignment, context_.node));
    return;
  }
  Done done{.episode = assignment.episode, .node = context_.node};
  try {
    run_attempt(assignment, done);
  } catch (const model::ChatError& error) {
    if (error.failure != model::ChatFailure::interrupted)
      report(Trouble{.exit_code = ExitCode::external, .reason = error.what(), .model = cell.model});
  } catch (const Error& error) {
    report(Trouble{.exit_code = exit_code(error.code()), .reason = error.what()});
  } catch (const std::exception& error) {
    report(Trouble{
        .exit_code = ExitCode::internal,
        .reason = fmt::format("internal error in {}: {}", to_string(context_.run.plan.id_of(planned)), error.what())});
  }
  report(std::move(done));
}

void LanePool::run_attempt(const Assignment& assignment, Done& done) {
  const auto& run = context_.run;
  const auto& planned = run.plan.episodes[assignment.episode];
  const auto& cell = run.plan.cells[planned.cell];
  const auto& task = *run.benchmark.find(run.plan.tasks[planned.task].id);
  log::AttemptId id{run.plan.id_of(planned), run.plan.key(planned.cell, planned.task), assignment.attempt};
  std::vector<log::LoggedTurn> history;
  if (assignment.resumed) history = context_.histories.take(assignment.episode);
  if (assignment.dead_attempt > 0) {
    context_.journal.append(
        killed_row({id.episode, id.key, assignment.dead_attempt}, task, assignment.dead_node, history));
  }
  const bool takes_over = !history.empty() && !history.back().turn;
  Tally tally(done, context_.turns, context_.clock, cell.id, takes_over);
  const auto append = [&](const log::Record& record) {
    context_.journal.append(record);
    tally.see(record);
    if (tells_costs_) report(planned.cell, tally.take_cost());
  };
  const agent::EpisodeJob job{.id = id,
                              .grid = run.grid,
                              .model = run.grid.model(cell.model),
                              .mode = run.grid.mode(cell.mode),
                              .prompt = run.grid.prompt(cell.prompt),
                              .task = task,
                              .history = std::move(history),
                              .node = context_.node,
                              .rank = context_.rank};
  GatedModel gated(*context_.models.at(cell.model), context_.clock,
                   {.may_begin = [&] { return may_begin(planned.cell); },
                    .is_outage = [&](const model::ChatError& error) { return is_outage(cell, error); },
                    .waited = [&](Seconds time) { tally.waited(time); }});
  agent::run_episode(job, gated, context_.device, append, context_.clock, drain_.get_token());
}

void LanePool::report(Done done) {
  std::lock_guard lock(mutex_);
  events_.done.push_back(std::move(done));
}

/// Rings: the sooner a budget is found used up, the fewer turns are begun beyond it.
void LanePool::report(std::uint32_t cell, const Tally::Cost& cost) {
  if (cost.tokens == 0 && cost.usd == 0) return;
  {
    std::lock_guard lock(mutex_);
    events_.spent.push_back({cell, cost.tokens, cost.usd});
  }
  bell_.ring();
}

void LanePool::report(Trouble trouble) {
  std::lock_guard lock(mutex_);
  events_.troubles.push_back(std::move(trouble));
}

}  // namespace nkigrid::runner
