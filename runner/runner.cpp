#include "runner/runner.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/version.hpp"
#include "jobs/dealing.hpp"
#include "jobs/forecast/simulation.hpp"
#include "runner/appetite.hpp"
#include "runner/coordinator.hpp"
#include "runner/end_watch.hpp"
#include "runner/histories.hpp"
#include "runner/lanes.hpp"
#include "runner/log/costs.hpp"
#include "runner/log/segment.hpp"
#include "runner/log/stopped_by.hpp"
#include "runner/pulse.hpp"
#include "runner/shard_lock.hpp"
#include "runner/stop.hpp"

namespace nkigrid::runner {
namespace {

/// How long an element waits for an earlier owner of its shard to end: Slurm kills it after KillWait.
constexpr Seconds kPredecessor{60};

/// Unique in the log's folder; never an input of a draw.
std::string journal_name(const RunOptions& options, int rank) {
  std::random_device device;
  const auto shard = options.shard ? fmt::format("s{}", options.shard->value) : std::string("all");
  return fmt::format("{}-r{}-{:08x}{:08x}", shard, rank, device(), device());
}

std::uint32_t auto_lanes(const jobs::Grid& grid) {
  const char* text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const auto ranks_here = static_cast<std::uint32_t>(std::max(1, text != nullptr ? std::atoi(text) : 1));
  return jobs::auto_lanes(grid, std::max(1U, std::thread::hardware_concurrency()), ranks_here);
}

std::map<std::string, std::unique_ptr<model::ChatModel>> make_models(const jobs::Run& run, RankPermits& permits) {
  std::map<std::string, std::unique_ptr<model::ChatModel>> models;
  for (const auto& spec : run.grid.models) {
    models[spec.name] = model::make_model(spec, run.benchmark, run.folder / "inputs" / "profiles",
                                          spec.concurrency > 0 ? &permits : nullptr);
  }
  return models;
}

std::string signal_text(int signal) {
  return signal == SIGUSR1 ? "SIGUSR1 (the time limit is near)" : signal == SIGINT ? "SIGINT" : "SIGTERM";
}

/// The main thread of one rank between its lanes and rank 0.
class Worker {
 public:
  Worker(mpi::Comm& comm, LanePool& lanes, RankPermits& permits, std::string node,
         std::function<void(const Start&)> start, std::function<void(const TimeLeft&)> move_end)
      : comm_(comm),
        lanes_(lanes),
        permits_(permits),
        node_(std::move(node)),
        start_(std::move(start)),
        move_end_(std::move(move_end)) {}

  /// @returns true when something moved.
  bool pump(Seconds now) {
    auto events = lanes_.take_events();
    for (const auto& trouble : events.troubles) send(Tag::trouble, encode(trouble), "report trouble");
    if (!events.done.empty()) send(Tag::done, encode(events.done), "report results");
    const auto permits = permits_.take_outgoing();
    for (const auto& model : permits.wanted) send(Tag::permit_wanted, model, "ask for a permit");
    for (const auto& model : permits.returned) send(Tag::permit_returned, model, "return a permit");
    asker_.ended(static_cast<std::uint32_t>(events.done.size()), now);
    const auto want = started_ && !finishing_ ? asker_.ask(lanes_.lanes(), lanes_.hungry(), lanes_.queued(), node_, now)
                                              : std::nullopt;
    if (want) send(Tag::want, encode(*want), "ask for episodes");
    return want || !events.done.empty() || !events.troubles.empty() || !permits.wanted.empty() ||
           !permits.returned.empty();
  }

  void handle(const mpi::Incoming& message) {
    switch (static_cast<Tag>(message.tag)) {
      case Tag::work:
        give(decode_work(message.bytes));
        break;
      case Tag::permit_granted:
        permits_.grant(message.bytes);
        break;
      case Tag::start:
        start_(decode_start(message.bytes));
        started_ = true;
        break;
      case Tag::end_moved:
        move_end_(decode_time_left(message.bytes));
        break;
      case Tag::drain:
        decode_drain(message.bytes).at_once ? lanes_.drain() : lanes_.close();
        break;
      case Tag::finish:
        finishing_ = true;
        break;
      case Tag::result:
        result_ = decode_result(message.bytes);
        break;
      default:
        break;
    }
  }
  bool finishing() const noexcept { return finishing_; }
  const std::optional<Result>& result() const noexcept { return result_; }
  void send(Tag tag, const std::string& bytes, std::string_view hint) {
    comm_.send(0, static_cast<int>(tag), bytes, hint);
  }

 private:
  void give(std::vector<Assignment> work) {
    asker_.received(work.size());
    lanes_.give(std::move(work));
  }

  mpi::Comm& comm_;
  LanePool& lanes_;
  RankPermits& permits_;
  std::string node_;
  std::function<void(const Start&)> start_;
  std::function<void(const TimeLeft&)> move_end_;
  Asker asker_;
  bool started_ = false, finishing_ = false;
  std::optional<Result> result_;
};

bool is_for_coordinator(int tag) { return tag <= static_cast<int>(Tag::sealed); }

/// Closes and seals this rank's journal. @returns an empty trouble when all went well.
Trouble seal(log::Journal& journal) {
  try {
    journal.close();
    log::seal_journal(journal.path(), true);
    return {};
  } catch (const Error& error) {
    return {exit_code(error.code()), error.what(), {}};
  }
}

/// Carries a stop from its stage to the lanes, and ends the process when its time is over.
class Stopper {
 public:
  Stopper(const jobs::Run& run, const RunOptions& options, int rank, LanePool& lanes)
      : run_(run), options_(options), rank_(rank), lanes_(lanes) {}

  void set_end(Seconds end) { plan_.set_end(end); }

  /// @returns a trouble to report when `signal` is news
  std::optional<Trouble> look(int signal, Seconds now) {
    std::optional<Trouble> news;
    if (signal != std::exchange(seen_, signal)) {
      plan_.signal(signal, now);
      reason_ = signal_text(signal);
      news = Trouble{.exit_code = signal == SIGINT ? ExitCode::interrupted : ExitCode::incomplete,
                     .reason = reason_,
                     .at_once = signal != SIGUSR1};
    }
    const auto stage = plan_.stage(now);
    if (stage == StopStage::abandon) abandon();
    if (stage > stage_) {  // an end that moves back undoes nothing
      stage_ = stage;
      stage == StopStage::closed ? lanes_.close() : lanes_.drain();
    }
    if (stage == StopStage::last_call && reason_.empty()) {
      reason_ = "time limit";
      news = Trouble{.exit_code = ExitCode::incomplete, .reason = reason_};
    }
    return news;
  }

 private:
  /// Threads may be stuck in a compile or a request: what is durable stays, the rest belongs to the next attempt.
  [[noreturn]] void abandon() {
    if (reason_.empty()) reason_ = "time limit";
    fmt::print(stderr,
               "nkigrid: rank {}: {} turns in flight did not end in time and are left to the next attempt\nnkigrid: "
               "stopped by {}\n",
               rank_, lanes_.running(), reason_);
    try {
      if (rank_ == 0) log::note_stopped_by(run_.log_folder(), options_.shard, reason_);
    } catch (const Error& error) {
      fmt::print(stderr, "nkigrid: warning: {}\n", error.what());
    }
    std::_Exit(static_cast<int>(ExitCode::incomplete));
  }

  const jobs::Run& run_;
  const RunOptions& options_;
  int rank_;
  LanePool& lanes_;
  StopPlan plan_;
  StopStage stage_ = StopStage::none;
  int seen_ = 0;
  std::string reason_;
};

/// What the log says at the end: the truth that `tables` will see.
Result final_result(const jobs::Run& run, const std::vector<std::uint32_t>& order, const Coordinator& coordinator) {
  const auto ledger = log::fold_log(run.plan, run.grid.infra_retries, log::log_of(run), false);
  Result result{.episodes = order.size(), .stopped_by = coordinator.stopped_by(), .exit_code = coordinator.exit_code()};
  for (const auto episode : order) result.scored += ledger.states[episode].counted_attempt > 0 ? 1 : 0;
  result.outstanding = result.episodes - result.scored;
  if (result.outstanding > 0) {
    result.exit_code = worse(result.exit_code, ExitCode::incomplete);
    if (result.stopped_by.empty()) {
      result.stopped_by = "parked: infrastructure failures used up every attempt";
      if (!coordinator.last_failure().empty())
        result.stopped_by += fmt::format("; the last one: {}", coordinator.last_failure());
    }
  }
  return result;
}

/// Elements that work at once share the endpoints' concurrency; whoever runs by hand has all of it.
jobs::EndpointPart endpoint_part(const RunOptions& options) {
  return {options.shard ? options.shard->value : 0, std::max(1U, options.elements_at_once)};
}

/// The end has moved: every rank's lanes and stages go by the new one.
void tell_end(mpi::Comm& comm, double seconds_left) {
  fmt::print(stderr, "nkigrid: the time limit was moved, {:.0f} s are left\n", seconds_left);
  for (int rank = 0; rank < comm.size(); ++rank)
    comm.send(rank, static_cast<int>(Tag::end_moved), encode(TimeLeft{seconds_left}), "move the end");
}

/// Rank 0 before the run: owns the shard, knows what is left of it.
struct Leader {
  ShardLock lock;
  std::vector<std::uint32_t> order;
  Coordinator coordinator;

  static Leader make(const jobs::Run& run, mpi::Comm& comm, const Clock& clock, const RunOptions& options) {
    ShardLock lock(run.folder, options.shard, run.plan.shards, options.ends_at ? kPredecessor : Seconds(0));
    log::note_stopped_by(run.log_folder(), options.shard, {});
    const auto ledger = log::fold_log(run.plan, run.grid.infra_retries, log::log_of(run), false);
    // What this run's episodes took so far corrects the costs it was frozen with.
    const auto seconds = jobs::expected_seconds(run.grid, run.plan, log::relearn_costs(run, ledger));
    auto order = jobs::dealing_order(run.plan, seconds, options.shard);
    for (const auto& warning : ledger.warnings) fmt::print(stderr, "nkigrid: warning: {}\n", warning);
    Dealer dealer(run.plan, run.grid, order, ledger, options.with_parked, lock.owner());
    return {std::move(lock), std::move(order),
            Coordinator(comm, std::move(dealer), PermitOffice(run.grid, endpoint_part(options)),
                        Progress(STDERR_FILENO, is_terminal(STDERR_FILENO), options.quiet, clock), clock)};
  }
};

/// A rank has died and MPI lets the others live: all that is durable stays, what is in flight belongs to the next
/// attempts.
void give_up(const jobs::Run& run, const RunOptions& options, mpi::Comm& comm, int lost) {
  const auto reason =
      fmt::format("rank {} has given no sign of life for {:.0f} s and is taken for dead", lost, Pulse::kSilent.count());
  fmt::print(stderr, "nkigrid: rank {}: {}; `nkigrid resume RUN` goes on\n", comm.rank(), reason);
  if (comm.rank() == 0) log::note_failure(run.log_folder(), options.shard, reason);
  comm.abort(ExitCode::external);
}

/// The run of one rank. @param owned set once the shard is known to be this run's: rank 0 has begun it
RunResult run_rank(const jobs::Run& run, mpi::Comm& comm, std::optional<Leader>& leader,
                   std::shared_ptr<device::Device> device, const Clock& clock, const RunOptions& options,
                   const std::atomic<int>& stop, bool& owned) {
  const auto node = node_name();
  Bell bell;
  RankPermits permits([&] { bell.ring(); });
  log::Journal journal(
      run.log_folder(), journal_name(options, comm.rank()),
      {run.grid_hash, run.run_id, kVersion, run.grid.device.nki.sdk, device->backend(), device->compiler(), node});
  if (!journal.warning().empty()) fmt::print(stderr, "nkigrid: warning: {}\n", journal.warning());
  TurnClock turns(run.grid);
  Histories histories(run);
  LaneContext context{
      run,   *device,  journal, clock, make_models(run, permits), node, static_cast<std::uint32_t>(comm.rank()),
      turns, histories};
  const auto lanes = options.lanes > 0 ? options.lanes : run.grid.lanes > 0 ? run.grid.lanes : auto_lanes(run.grid);
  std::optional<LanePool> pool(std::in_place, context, bell, lanes);
  Stopper stopper(run, options, comm.rank(), *pool);
  Worker worker(
      comm, *pool, permits, node,
      [&](const Start& start) {
        owned = true;
        histories.expect(start.resumed);
        if (start.seconds_left < 0) return;
        const auto now = clock.monotonic();
        turns.set_end(now, now + Seconds(start.seconds_left));
        stopper.set_end(now + Seconds(start.seconds_left));
      },
      [&](const TimeLeft& left) {
        turns.move_end(clock.monotonic() + Seconds(left.seconds));
        stopper.set_end(clock.monotonic() + Seconds(left.seconds));
      });
  EndWatch end_watch(leader ? options.end_question : EndQuestion{}, options.ends_at, clock);
  if (leader)
    leader->coordinator.start(options.ends_at ? std::max(0.0, *options.ends_at - clock.unix_seconds()) : -1.0);

  bool sealed = false, told_result = false;
  Pulse pulse(comm, clock);
  PollPause pause;
  while (!worker.result()) {
    bool moved = false;
    while (auto message = comm.poll("run")) {
      moved = true;
      if (pulse.took(*message)) continue;
      if (is_for_coordinator(message->tag))
        leader->coordinator.handle(*message);
      else
        worker.handle(*message);
    }
    if (!sealed) {
      if (const auto news = stopper.look(stop.load(), clock.monotonic()))
        worker.send(Tag::trouble, encode(*news), "report a stop");
      moved = worker.pump(clock.monotonic()) || moved;
    }
    if (leader) leader->coordinator.tick();
    if (const auto lost = pulse.look()) give_up(run, options, comm, *lost);
    if (const auto end = told_result ? std::nullopt : end_watch.look(turns, run.plan.cells))
      tell_end(comm, *end - clock.unix_seconds());
    if (worker.finishing() && !sealed && pool->idle()) {
      sealed = true;
      pulse.before_sealing();
      worker.send(Tag::sealed, encode(seal(journal)), "report the seal");
    }
    if (leader && leader->coordinator.all_sealed() && !std::exchange(told_result, true)) {
      pulse.before_sealing();
      log::seal_all(log::log_of(run));
      leader->coordinator.finish_progress();
      const auto result = final_result(run, leader->order, leader->coordinator);
      log::note_stopped_by(run.log_folder(), options.shard, result.stopped_by);
      for (int rank = 0; rank < comm.size(); ++rank)
        comm.send(rank, static_cast<int>(Tag::result), encode(result), "tell the result");
    }
    moved ? pause.moved() : bell.wait(pause.next());
  }
  pool.reset();
  comm.barrier("end of the run");
  const auto& result = *worker.result();
  return {result.episodes, result.scored, result.outstanding, result.stopped_by, result.exit_code};
}

}  // namespace

std::string node_name() {
  if (const char* name = std::getenv("SLURMD_NODENAME"); name != nullptr && *name != '\0') return name;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return host;
}

RunResult run_shard(const jobs::Run& run, mpi::Comm& comm, std::shared_ptr<device::Device> device, const Clock& clock,
                    const RunOptions& options, const std::atomic<int>& stop) {
  make_directories(run.log_folder());
  std::optional<Leader> leader;
  if (comm.rank() == 0) leader.emplace(Leader::make(run, comm, clock, options));
  bool owned = leader.has_value();
  try {
    return run_rank(run, comm, leader, std::move(device), clock, options, stop, owned);
  } catch (const std::exception& error) {
    if (owned) log::note_failure(run.log_folder(), options.shard, error.what());
    throw;
  }
}

}  // namespace nkigrid::runner
