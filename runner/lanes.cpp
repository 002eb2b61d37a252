#include "runner/lanes.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/agent/agent.hpp"
#include "runner/log/reader.hpp"

namespace nkigrid::runner {
namespace {

/// Sees every record of one attempt on its way to the journal.
struct Tally {
  Done done;
  void see(const log::Record& record) {
    if (const auto* reply = std::get_if<log::Reply>(&record)) {
      done.tokens += reply->tokens_in + reply->tokens_out;
      done.cost_usd += reply->cost_usd;
    } else if (const auto* end = std::get_if<log::End>(&record)) {
      done.ended = true;
      done.outcome = end->outcome;
      done.reason = end->reason;
    }
  }
};

/// The row of an attempt whose owner died: its next owner writes it.
log::End killed_row(const log::AttemptId& id, const jobs::Task& task, const std::string& node, const std::vector<log::LoggedTurn>& history) {
  log::End end;
  end.id = id;
  end.level = task.level;
  end.category = task.category;
  end.outcome = Outcome::killed;
  end.reason = "its owner ended without a last record; taken over";
  end.turns = static_cast<std::uint32_t>(history.size());
  end.inherited_turns = static_cast<std::uint32_t>(
      std::count_if(history.begin(), history.end(), [&](const auto& turn) { return turn.reply.id.attempt < id.attempt; }));
  end.node = node;
  return end;
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

LanePool::LanePool(const LaneContext& context, Bell& bell, std::uint32_t lanes) : context_(context), bell_(bell) {
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
  if (drain_.stop_requested()) drain();  // it crossed the drain on its way: goes back
  else arrived_.notify_all();
}

std::uint32_t LanePool::hungry() const {
  std::lock_guard lock(mutex_);
  const auto busy = running_ + static_cast<std::uint32_t>(waiting_.size());
  const auto lanes = static_cast<std::uint32_t>(threads_.size());
  return busy >= lanes ? 0 : lanes - busy;
}

void LanePool::drain() {
  drain_.request_stop();
  std::lock_guard lock(mutex_);
  for (const auto& assignment : std::exchange(waiting_, {})) events_.done.push_back({.episode = assignment.episode, .ended = false, .begun = false, .node = context_.node});
  bell_.ring();
}

LanePool::Events LanePool::take_events() {
  std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

bool LanePool::idle() const {
  std::lock_guard lock(mutex_);
  return running_ == 0 && waiting_.empty() && events_.done.empty() && events_.troubles.empty();
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

void LanePool::run_one(const Assignment& assignment) {
  const auto& run = context_.run;
  const auto& planned = run.plan.episodes[assignment.episode];
  const auto& cell = run.plan.cells[planned.cell];
  const auto& task = *run.benchmark.find(run.plan.tasks[planned.task].id);
  log::AttemptId id{run.plan.id_of(planned), run.plan.key(planned.cell, planned.task), assignment.attempt};
  Tally tally{.done = {.episode = assignment.episode, .node = context_.node}};
  const auto append = [&](const log::Record& record) {
    context_.journal.append(record);
    tally.see(record);
  };
  try {
    std::vector<log::LoggedTurn> history;
    if (assignment.attempt > 1) history = log::read_history(run.log_folder(), id.episode, id.key);
    if (assignment.dead_attempt > 0) {
      context_.journal.append(killed_row({id.episode, id.key, assignment.dead_attempt}, task, assignment.dead_node, history));
    }
    const agent::EpisodeJob job{.id = id, .grid = run.grid, .model = run.grid.model(cell.model), .mode = run.grid.mode(cell.mode),
                                .prompt = run.grid.prompt(cell.prompt), .task = task, .history = std::move(history),
                                .node = context_.node, .rank = context_.rank};
    agent::run_episode(job, *context_.models.at(cell.model), context_.device, append, context_.clock, drain_.get_token());
  } catch (const model::ChatError& error) {
    if (error.failure != model::ChatFailure::interrupted) report(Trouble{.exit_code = 4, .reason = error.what(), .model = cell.model});
  } catch (const Error& error) {
    report(Trouble{.exit_code = exit_code(error.code()), .reason = error.what(), .model = {}});
  } catch (const std::exception& error) {
    report(Trouble{.exit_code = 70, .reason = fmt::format("internal error in {}: {}", to_string(id.episode), error.what()), .model = {}});
  }
  report(std::move(tally.done));
}

void LanePool::report(Done done) {
  std::lock_guard lock(mutex_);
  events_.done.push_back(std::move(done));
}

void LanePool::report(Trouble trouble) {
  std::lock_guard lock(mutex_);
  events_.troubles.push_back(std::move(trouble));
}

}  // namespace nkigrid::runner
