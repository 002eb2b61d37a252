#include "runner/leader.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jobs/base/notice.hpp"
#include "jobs/dealing.hpp"
#include "jobs/endpoints.hpp"
#include "jobs/forecast/simulation.hpp"
#include "runner/log/costs.hpp"
#include "runner/log/segment.hpp"
#include "runner/log/spent.hpp"
#include "runner/log/stopped_by.hpp"

namespace nkigrid::runner {
namespace {

/// How long an element waits for an earlier owner of its shard to end: Slurm kills it after KillWait.
constexpr Seconds kPredecessor{60};

/// While rank 0 works: attempts without an end are nobody's.
log::Ledger ledger_of(const jobs::Run& run) {
  return log::fold_log(run.plan, run.grid.infra_retries, log::log_of(run), {});
}

}  // namespace

jobs::EndpointPart endpoint_part(const RunOptions& options) {
  return {options.shard ? options.shard->value : 0, std::max(1U, options.elements_at_once)};
}

Leader Leader::make(const jobs::Run& run, mpi::Comm& comm, const Clock& clock, const RunOptions& options) {
  ShardLock lock(run.folder, options.shard, run.plan.shards, options.ends_at ? kPredecessor : Seconds(0));
  log::note_stopped_by(run.log_folder(), options.shard, {});
  auto ledger = ledger_of(run);
  if (has_budget(run.grid)) log::add_unfinished_spend(run.plan, log::log_of(run), ledger);
  // What this run's episodes took so far corrects the costs it was frozen with.
  const auto seconds = jobs::expected_seconds(run.grid, run.plan, log::relearn_costs(run, ledger));
  auto order = jobs::dealing_order(run.plan, seconds, options.shard);
  for (const auto& warning : ledger.warnings) warn("{}", warning);
  Dealer dealer(run.plan, run.grid, order, ledger, options.with_parked, lock.owner());
  return {run, comm, clock, options, std::move(lock), std::move(order), std::move(dealer)};
}

Leader::Leader(const jobs::Run& run, mpi::Comm& comm, const Clock& clock, const RunOptions& options, ShardLock lock,
               std::vector<std::uint32_t> order, Dealer dealer)
    : run_(run),
      clock_(clock),
      options_(options),
      lock_(std::move(lock)),
      order_(std::move(order)),
      coordinator_(comm, std::move(dealer), PermitOffice(run.grid, endpoint_part(options)),
                   Progress(STDERR_FILENO, is_terminal(STDERR_FILENO), options.quiet, clock), clock),
      end_watch_(options.end_question, options.ends_at, clock) {}

void Leader::start() {
  coordinator_.start(options_.ends_at ? std::max(0.0, *options_.ends_at - clock_.unix_seconds()) : -1.0);
}

void Leader::tick(const TurnClock& turns) {
  coordinator_.tick();
  if (finished_) return;
  // A `resume` need not wait for the end of what is in flight: new elements wait behind this one.
  if (coordinator_.draining() && !std::exchange(noted_, true))
    log::note_failure(run_.log_folder(), options_.shard, coordinator_.stopped_by());
  if (const auto end = end_watch_.look(turns, run_.plan.cells)) tell_end(*end - clock_.unix_seconds());
}

/// The end has moved: every rank's lanes and stages go by the new one.
void Leader::tell_end(double seconds_left) {
  notice("the time limit was moved, {:.0f} s are left", seconds_left);
  coordinator_.tell_all(Tag::end_moved, encode(TimeLeft{seconds_left}), "move the end");
}

void Leader::finish() {
  finished_ = true;
  coordinator_.finish_progress();
  log::seal_all(log::log_of(run_), options_.quiet ? log::SealProgress() : log::tell_seal_progress(clock_));
  const auto result = this->result();
  log::note_stopped_by(run_.log_folder(), options_.shard, result.stopped_by);
  coordinator_.tell_all(Tag::result, encode(result), "tell the result");
}

std::string why_left(const log::Ledger& ledger, const std::vector<std::uint32_t>& order) {
  std::set<std::string> nodes;
  for (const auto episode : order) {
    const auto& state = ledger.states[episode];
    if (!state.is_scored() && state.outstanding != log::Outstanding::parked) nodes.insert(state.last_node);
  }
  if (nodes.empty()) return "parked: infrastructure failures used up every attempt";
  return fmt::format("infrastructure failures on {} used up this session's attempts", fmt::join(nodes, ", "));
}

/// What the log says at the end: the truth that `tables` will see.
RunResult Leader::result() const {
  const auto ledger = ledger_of(run_);
  RunResult result{.episodes = order_.size(),
                   .begun = coordinator_.dealt(),
                   .stopped_by = coordinator_.stopped_by(),
                   .exit_code = coordinator_.exit_code()};
  for (const auto episode : order_) result.scored += ledger.states[episode].is_scored() ? 1 : 0;
  result.outstanding = result.episodes - result.scored;
  result.outdone_nodes = ledger.outdone_nodes();
  if (result.outstanding == 0) return result;
  result.exit_code = worse(result.exit_code, ExitCode::incomplete);
  if (result.stopped_by.empty()) {
    result.stopped_by = why_left(ledger, order_);
    if (!coordinator_.last_failure().empty())
      result.stopped_by += fmt::format("; the last one: {}", coordinator_.last_failure());
  }
  return result;
}

}  // namespace nkigrid::runner
