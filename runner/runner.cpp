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
#include "runner/coordinator.hpp"
#include "runner/lanes.hpp"
#include "runner/log/segment.hpp"
#include "runner/shard_lock.hpp"

namespace nkigrid::runner {
namespace {

/// Longest sleep between two looks at MPI. A lane that has something to say rings the bell at once.
constexpr Seconds kPoll{0.002};

/// Where this rank runs, for provenance and for keeping a retry away from a bad node. On one machine that plays several Slurm
/// nodes the host name is the same for all, hence SLURMD_NODENAME first.
std::string node_name() {
  if (const char* name = std::getenv("SLURMD_NODENAME"); name != nullptr && *name != '\0') return name;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return host;
}

/// Unique in the log's folder; never an input of a draw.
std::string journal_name(const RunOptions& options, int rank) {
  std::random_device device;
  const auto shard = options.shard ? fmt::format("s{}", options.shard->value) : std::string("all");
  return fmt::format("{}-r{}-{:08x}{:08x}", shard, rank, device(), device());
}

std::uint32_t auto_lanes(const jobs::Grid& grid) {
  const char* text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const auto ranks_here = static_cast<std::uint32_t>(std::max(1, text != nullptr ? std::atoi(text) : 1));
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  const bool waits = std::any_of(grid.models.begin(), grid.models.end(), [](const auto& model) { return model.api != "synthetic"; });
  // A lane that waits for tokens costs nothing; one that compiles costs a core.
  return std::max(1U, cores * (waits ? 8 : 2) / ranks_here);
}

std::map<std::string, std::unique_ptr<model::ChatModel>> make_models(const jobs::Run& run, RankPermits& permits) {
  std::map<std::string, std::unique_ptr<model::ChatModel>> models;
  for (const auto& spec : run.grid.models) {
    models[spec.name] = model::make_model(spec, run.benchmark, run.folder / "inputs" / "profiles", spec.concurrency > 0 ? &permits : nullptr);
  }
  return models;
}

std::string signal_text(int signal) {
  return signal == SIGUSR1 ? "SIGUSR1 (the time limit is near)" : signal == SIGINT ? "SIGINT" : "SIGTERM";
}

/// The main thread of one rank between its lanes and rank 0.
class Worker {
 public:
  Worker(mpi::Comm& comm, LanePool& lanes, RankPermits& permits, std::string node) : comm_(comm), lanes_(lanes), permits_(permits), node_(std::move(node)) {}

  /// @returns true when something moved.
  bool pump() {
    auto events = lanes_.take_events();
    for (const auto& trouble : events.troubles) send(Tag::trouble, encode(trouble), "report trouble");
    if (!events.done.empty()) send(Tag::done, encode(events.done), "report results");
    const auto permits = permits_.take_outgoing();
    for (const auto& model : permits.wanted) send(Tag::permit_wanted, model, "ask for a permit");
    for (const auto& model : permits.returned) send(Tag::permit_returned, model, "return a permit");
    const auto hungry = lanes_.hungry();
    const bool ask = hungry > 0 && hungry != last_want_ && !finishing_;
    if (ask) send(Tag::want, encode(Want{hungry, node_}), "ask for episodes");
    last_want_ = hungry;
    return ask || !events.done.empty() || !events.troubles.empty() || !permits.wanted.empty() || !permits.returned.empty();
  }

  void handle(const mpi::Incoming& message) {
    switch (static_cast<Tag>(message.tag)) {
      case Tag::work:
        lanes_.give(decode_work(message.bytes));
        last_want_ = lanes_.hungry();
        break;
      case Tag::permit_granted: permits_.grant(message.bytes); break;
      case Tag::drain: lanes_.drain(); break;
      case Tag::finish: finishing_ = true; break;
      case Tag::result: result_ = decode_result(message.bytes); break;
      default: break;
    }
  }
  bool finishing() const noexcept { return finishing_; }
  const std::optional<Result>& result() const noexcept { return result_; }
  void send(Tag tag, const std::string& bytes, std::string_view hint) { comm_.send(0, static_cast<int>(tag), bytes, hint); }

 private:
  mpi::Comm& comm_;
  LanePool& lanes_;
  RankPermits& permits_;
  std::string node_;
  std::uint32_t last_want_ = 0;
  bool finishing_ = false;
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

/// What the log says at the end: the truth that `tables` will see.
Result final_result(const jobs::Run& run, const std::vector<std::uint32_t>& order, const Coordinator& coordinator) {
  const auto ledger = log::fold_log(run.plan, run.grid.infra_retries, run.log_folder(), false);
  Result result{.episodes = order.size(), .stopped_by = coordinator.stopped_by(), .exit_code = coordinator.exit_code()};
  for (const auto episode : order) result.scored += ledger.states[episode].counted_attempt > 0 ? 1 : 0;
  result.outstanding = result.episodes - result.scored;
  if (result.outstanding > 0) {
    result.exit_code = worse_exit_code(result.exit_code, 1);
    if (result.stopped_by.empty()) {
      result.stopped_by = "parked: infrastructure failures used up every attempt";
      if (!coordinator.last_failure().empty()) result.stopped_by += fmt::format("; the last one: {}", coordinator.last_failure());
    }
  }
  return result;
}

}  // namespace

RunResult run_shard(const jobs::Run& run, mpi::Comm& comm, std::shared_ptr<device::Device> device, const Clock& clock,
                    const RunOptions& options, const std::atomic<int>& stop) {
  make_directories(run.log_folder());
  const bool leader = comm.rank() == 0;
  std::optional<ShardLock> lock;
  std::vector<std::uint32_t> order;
  std::optional<Coordinator> coordinator;
  if (leader) {
    lock.emplace(run.folder, options.shard, run.plan.shards);
    order = jobs::dealing_order(run.plan, run.grid, options.shard);
    const auto ledger = log::fold_log(run.plan, run.grid.infra_retries, run.log_folder(), false);
    for (const auto& warning : ledger.warnings) fmt::print(stderr, "nkigrid: warning: {}\n", warning);
    coordinator.emplace(run, comm, Dealer(run.plan, run.grid, order, ledger, options.with_parked),
                        Progress(STDERR_FILENO, is_terminal(STDERR_FILENO), options.quiet, clock), clock);
  }

  const auto node = node_name();
  Bell bell;
  RankPermits permits([&] { bell.ring(); });
  log::Journal journal(run.log_folder(), journal_name(options, comm.rank()),
                       {run.grid_hash, run.run_id, kVersion, run.grid.device.sdk, device->backend(), device->compiler(), node});
  if (!journal.warning().empty()) fmt::print(stderr, "nkigrid: warning: {}\n", journal.warning());
  LaneContext context{run, *device, journal, clock, make_models(run, permits), node, static_cast<std::uint32_t>(comm.rank())};
  const auto lanes = options.lanes > 0 ? options.lanes : run.grid.lanes > 0 ? run.grid.lanes : auto_lanes(run.grid);
  std::optional<LanePool> pool(std::in_place, context, bell, lanes);
  Worker worker(comm, *pool, permits, node);

  bool told_stop = false, sealed = false, told_result = false;
  while (!worker.result()) {
    bool moved = false;
    while (auto message = comm.poll("run")) {
      moved = true;
      if (is_for_coordinator(message->tag)) coordinator->handle(*message);
      else worker.handle(*message);
    }
    if (const int signal = stop.load(); signal != 0 && !std::exchange(told_stop, true)) {
      worker.send(Tag::trouble, encode(Trouble{signal == SIGINT ? 130 : 1, signal_text(signal), {}}), "report a signal");
    }
    if (!sealed) moved = worker.pump() || moved;
    if (leader) coordinator->tick();
    if (worker.finishing() && !sealed && pool->idle()) {
      sealed = true;
      worker.send(Tag::sealed, encode(seal(journal)), "report the seal");
    }
    if (leader && coordinator->all_sealed() && !std::exchange(told_result, true)) {
      log::seal_all(run.log_folder());
      coordinator->finish_progress();
      const auto result = encode(final_result(run, order, *coordinator));
      for (int rank = 0; rank < comm.size(); ++rank) comm.send(rank, static_cast<int>(Tag::result), result, "tell the result");
    }
    if (!moved) bell.wait(kPoll);
  }
  pool.reset();
  comm.barrier("end of the run");
  const auto& result = *worker.result();
  return {result.episodes, result.scored, result.outstanding, result.stopped_by, result.exit_code};
}

}  // namespace nkigrid::runner
