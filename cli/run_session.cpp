#include "cli/run_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "aggregate/tables/write.hpp"
#include "cli/grids.hpp"
#include "cli/json_text.hpp"
#include "cli/kept_servers.hpp"
#include "cli/own_rights.hpp"
#include "cli/schedulers.hpp"
#include "cli/usage.hpp"
#include "jobs/base/clock.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/run_directory.hpp"
#include "jobs/servers.hpp"
#include "runner/device/make_device.hpp"
#include "runner/log/costs.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/refusals.hpp"
#include "runner/log/server_notes.hpp"
#include "runner/log/stopped_by.hpp"
#include "runner/model/key.hpp"
#include "runner/mpi/comm.hpp"
#include "runner/runner.hpp"
#include "runner/shard_lock.hpp"

namespace nkigrid::cli {
namespace {

/// The only state that a signal handler may touch.
std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

/// What a second Ctrl-C says: written before the handler is there, and never again.
std::string stop_words;

/// A second Ctrl-C does not wait for the drain. Only what a handler may do: one write.
[[noreturn]] void stop_now() {
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, stop_words.data(), stop_words.size());
  std::_Exit(static_cast<int>(ExitCode::interrupted));
}

extern "C" void on_stop_signal(int signal) {
  if (stop_signal.exchange(signal) == SIGINT && signal == SIGINT) stop_now();
}

void catch_stop_signals(const std::string& run) {
  stop_words = fmt::format(
      "\nnkigrid: stopped now: turns in flight are lost; every reply and turn that was logged stays, and `nkigrid "
      "resume {} --local` goes on from there\n",
      run);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    struct sigaction action = {};
    action.sa_handler = on_stop_signal;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

/// Before MPI_Init only the launcher's environment knows.
bool is_first_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* rank = std::getenv(name); rank != nullptr) return std::string_view(rank) == "0";
  }
  return true;
}

/// What is made before MPI starts and before any thread: what forks does it here.
struct Session {
  const SessionOptions& options;
  std::optional<jobs::Run> run;  ///< none: a grid is to be frozen first
  std::unique_ptr<jobs::Allocation> allocation;
  std::optional<double> ends_at;
  jobs::EndQuestion end_question;
  model::TakenKeys keys;
  device::DevicePaths paths;
  std::shared_ptr<device::BackendServers> servers;
};

Session begin_session(const SessionOptions& options) {
  Session session{.options = options, .allocation = site_allocation(), .paths = device::default_device_paths()};
  if (!options.grid) session.run = jobs::load_run(options.run);
  // Who submitted a run was asked then, and an element has nobody to ask.
  if (session.run && !options.shard)
    require_own_rights(*session.run, jobs::UsedPart::all, options.trust_commands, !mpi::under_launcher());
  const auto& grid = options.grid ? *options.grid : session.run->grid;
  session.keys = model::take_environment_keys(grid.models);
  if (is_first_rank()) session.ends_at = session.allocation->end(grid.slurm.time);
  if (session.ends_at) session.end_question = session.allocation->watch_end();
  // The servers' children must hold nothing of ours.
  const auto lanes = options.lanes > 0 ? options.lanes : grid.lanes;
  session.servers = device::start_servers(grid.device.backend, grid.check, session.paths, lanes);
  return session;
}

/// Rank 0 freezes; the others find it frozen.
jobs::Run open_run(Session& session, mpi::Comm& comm) {
  if (session.run) {
    jobs::require_log_key(session.run->folder, session.run->lost_log_key);
    jobs::require_secret(*session.run);
    return std::move(*session.run);
  }
  const auto& options = session.options;
  std::optional<jobs::Run> run;
  if (comm.rank() == 0)
    run = jobs::freeze_run(*options.grid, benchmark_of(*options.grid), options.run, log::learn_costs(options.costs));
  if (run) jobs::require_log_key(run->folder, run->lost_log_key), jobs::require_secret(*run);
  comm.barrier("freeze the run");
  return run ? std::move(*run) : jobs::load_run(options.run);
}

/// Elements that still wait would be started on a free bad node at once, and eaten one after the other.
void leave_out_of_waiting(const jobs::Run& run, const jobs::Allocation& allocation,
                          const std::vector<std::string>& bad) {
  if (bad.empty()) return;
  auto excluded = run.grid.slurm.exclude;
  for (const auto& name : bad) excluded += (excluded.empty() ? "" : ",") + name;
  try {
    allocation.leave_out_of_waiting(excluded);
  } catch (const std::exception& error) {
    warn("elements that wait may be started on {} too: {}", fmt::join(bad, ", "), error.what());
  }
}

/// True in the last element of an array to end, when no aggregation stands. Two that end at once both take themselves
/// for the last: each has given its shard back before it asks.
bool tables_are_ours(const jobs::Run& run, const jobs::Allocation& allocation) {
  try {
    const auto others = allocation.others(run);
    return others && !others->aggregation && !others->waiting &&
           std::none_of(others->shards.begin(), others->shards.end(),
                        [&](std::uint32_t shard) { return runner::is_owned(run.folder, ShardId{shard}); });
  } catch (const std::exception& error) {
    warn("nobody can say whether the tables are still to be made: {}; `nkigrid resume` does it", error.what());
    return false;
  }
}

void print_result(const jobs::Run& run, const runner::RunResult& result) {
  fmt::print("{}", json_text({{"version", 1},
                              {"run", run.folder.native()},
                              {"grid_hash", run.grid_hash},
                              {"episodes", result.episodes},
                              {"scored", result.scored},
                              {"outstanding", result.outstanding},
                              {"stopped_by", result.stopped_by},
                              {"exit_code", static_cast<int>(result.exit_code)}}));
}

/// A session that begins anew has all of its `wall` again, but no more tokens and USD.
bool wants_larger_budget(const std::string& stopped_by) {
  return stopped_by.starts_with("budget: ") && stopped_by.find("budget.wall") == std::string::npos;
}

ExitCode finish(const jobs::Run& run, const runner::RunResult& result, const SessionOptions& options,
                const jobs::Allocation& allocation) {
  leave_out_of_waiting(run, allocation, result.outdone_nodes);
  if (!options.shard || tables_are_ours(run, allocation)) aggregate::write_tables(run, run.folder / "tables");
  if (options.json) print_result(run, result);
  if (result.outstanding > 0 && !options.quiet) {
    const auto how = wants_larger_budget(result.stopped_by) ? "`nkigrid run GRID -o {}` with a larger budget in GRID"
                                                            : "`nkigrid resume {} --local`";
    notice("{} of {} episodes are outstanding; {} continues them", result.outstanding, result.episodes,
           fmt::format(fmt::runtime(how), run.folder.native()));
  }
  if (result.begun == 0 && result.outstanding == 0 && !options.quiet) {
    notice("nothing was left to do ({} of {} were scored before); `nkigrid tables {}` prints what came of them",
           result.scored, result.episodes, run.folder.native());
  }
  if (!result.stopped_by.empty()) notice("stopped by {}", result.stopped_by);
  return result.exit_code;
}

/// A node of the cluster whose device fails at the start is left out of the next submission, and by the elements of
/// this one that wait.
void note_refusal(const jobs::Run& run, const jobs::Allocation& allocation, const std::string& reason) {
  const auto node = allocation.node();
  if (node.empty()) return;
  log::note_refusal(run.log_folder(), node, reason);
  if (!reason.empty()) leave_out_of_waiting(run, allocation, log::read_ledger(run).outdone_nodes());
}

/// Whose servers this session asks.
std::string server_owner(const SessionOptions& options) {
  return options.served ? std::string(log::kJobsOwn) : owner_of(options.shard);
}

/// The servers that rank 0 waits for: none where another process has the shards, which is told later.
std::vector<jobs::KeptServer> wanted_servers(const jobs::Run& run, const SessionOptions& options) {
  for (std::uint32_t s = 0; s < run.plan.shards; ++s) {
    const ShardId shard{s};
    if ((!options.shard || options.shard->value == s) && !options.served && runner::is_owned(run.folder, shard))
      return {};
  }
  return servers_to_run(run, log::read_ledger(run), options.shard, options.with_parked);
}

/// Rank 0 waits until they answer; the others for rank 0.
void await_own_servers(const jobs::Run& run, mpi::Comm& comm, const SessionOptions& options,
                       const std::vector<jobs::KeptServer>& servers) {
  try {
    await_servers(run, server_owner(options), servers,
                  options.served ? Patience::first_replica : Patience::all_replicas, {stop_signal, options.quiet});
  } catch (const Error& error) {
    log::note_failure(run.log_folder(), options.shard, error.what());
    throw;
  }
  comm.barrier("wait for the models' servers");
}

ExitCode run_rank(Session& session, mpi::Comm& comm) {
  const auto& options = session.options;
  const auto run = open_run(session, comm);
  const bool has_servers = !jobs::servers_of(run.grid).empty();
  // They load while the device is looked at.
  const auto servers = has_servers && comm.rank() == 0 ? wanted_servers(run, options) : std::vector<jobs::KeptServer>();
  std::optional<LocalKeepers> keepers;
  if (!options.served)
    keepers.emplace(run, server_owner(options), servers, comm.size() > 1, Waiting{stop_signal, options.quiet});
  std::shared_ptr<device::Device> device;
  try {
    device = device::make_device(run.grid.device, run.grid.check, {run.grid.seed, run.secret},
                                 std::move(session.servers), session.paths);
  } catch (const Error& error) {
    log::note_failure(run.log_folder(), options.shard, error.what());  // `status` tells it, as it tells later stops
    note_refusal(run, *session.allocation, error.what());
    throw;
  }
  note_refusal(run, *session.allocation, {});
  if (has_servers) await_own_servers(run, comm, options, servers);
  const SystemClock clock;
  const runner::RunOptions how{.shard = options.shard,
                               .lanes = options.lanes,
                               .with_parked = options.with_parked,
                               .quiet = options.quiet,
                               .ends_at = session.ends_at,
                               .elements_at_once = options.elements_at_once,
                               .end_question = session.end_question,
                               .node = session.allocation->node(),
                               .keys = std::move(session.keys),
                               .servers_of = server_owner(options)};
  const auto result = runner::run_shard(run, comm, std::move(device), clock, how, stop_signal);
  return comm.rank() == 0 ? finish(run, result, options, *session.allocation) : result.exit_code;
}

}  // namespace

void add_lanes_option(CLI::App& app, std::uint32_t& lanes) {
  want_whole(app.add_option("--lanes", lanes, "episodes at once in each process (0: auto)"), 0, 4096);
}

ExitCode run_session(const SessionOptions& options, ProgramArguments arguments) {
  catch_stop_signals(options.run.native());
  auto session = begin_session(options);
  const auto comm = mpi::under_launcher() ? mpi::make_mpi(arguments.argc, arguments.argv) : mpi::make_loopback();
  try {
    mpi::check_launcher(*comm);
    return run_rank(session, *comm);
  } catch (const Error& error) {
    if (comm->size() == 1) throw;
    notice("rank {}: {}", comm->rank(), error.what());
    comm->abort(exit_code(error.code()));
  } catch (const std::exception& error) {
    if (comm->size() == 1) throw;
    notice("rank {}: internal error: {}; please report it", comm->rank(), error.what());
    comm->abort(ExitCode::internal);
  }
  std::abort();  // not reached: abort() of a communicator does not return
}

}  // namespace nkigrid::cli
