#include "cli/kept_servers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "cli/cluster.hpp"
#include "cli/host_name.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "runner/model/servers/replicas.hpp"

namespace nkigrid::cli {
namespace {

const std::string kLoopback = "127.0.0.1";
constexpr Seconds kLook{0.2};
constexpr Seconds kBegins{90};   ///< a keeper waits a minute for an earlier one of its server
constexpr Seconds kEnds{20};     ///< a keeper gives its server ten seconds
constexpr Seconds kSlack{60};    ///< beyond start_timeout, for a keeper that begins after we look
constexpr Seconds kEarlier{60};  ///< so long what says "ended" may be an earlier keeper's word

std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

/// True when the descriptor became readable within `patience`, however many signals are handled meanwhile.
bool is_ready(int fd, Seconds patience) {
  const SystemClock clock;
  const auto until = clock.monotonic() + patience;
  for (;;) {
    const auto left = std::max(Seconds(0), until - clock.monotonic());
    pollfd watched{fd, POLLIN, 0};
    const int got = ::poll(&watched, 1, static_cast<int>(left.count() * 1000));
    if (got >= 0 || errno != EINTR) return got > 0;
  }
}

void await_server(const jobs::KeptServer& server, const model::ServerPlaces& places, Patience patience,
                  const Waiting& waiting) {
  const SystemClock clock;
  model::Replicas replicas(places, server, clock);
  const auto begun = clock.monotonic();
  bool told = waiting.quiet;
  while (waiting.stop.load() == 0) {
    const auto waited = clock.monotonic() - begun;
    if (replicas.healthy() && (patience == Patience::first_replica || replicas.settled())) return;
    if (replicas.failed() || (replicas.lost() && waited > kEarlier))
      throw Error(ErrorCode::external, replicas.trouble());
    if (waited > server.spec->start_timeout + kSlack)
      throw Error(ErrorCode::external,
                  fmt::format("{}, and gave no answer within its start_timeout", replicas.trouble()));
    if (!std::exchange(told, true)) notice("waiting for the server of model '{}'", server.name);
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

std::vector<jobs::KeptServer> servers_to_run(const jobs::Run& run, const log::Ledger& ledger,
                                             std::optional<ShardId> shard, bool with_parked) {
  std::set<std::string> models;
  for (const auto index : ledger.to_run(with_parked)) {
    const auto& episode = run.plan.episodes[index];
    if (!shard || episode.shard == shard->value) models.insert(run.plan.cells[episode.cell].model);
  }
  return jobs::servers_of(run.grid, models);
}

std::string owner_of(std::optional<ShardId> shard) {
  return shard ? fmt::format("shard-{}", shard->value) : std::string("all");
}

LocalKeepers::LocalKeepers(const jobs::Run& run, const std::string& owner, const std::vector<jobs::KeptServer>& servers,
                           bool open, const Waiting& waiting)
    : LocalKeepers() {
  const auto machine = open ? host_name() : kLoopback;
  for (const auto& server : servers) {
    for (std::uint32_t k = 0; k < server.spec->replicas; ++k) {
      std::vector<std::string> words = {"--replica", std::to_string(k),
                                        "--for",     owner,
                                        "--host",    open ? "0.0.0.0" : kLoopback,
                                        "--machine", machine,
                                        "--parent",  std::to_string(::getpid())};
      if (waiting.quiet) words.emplace_back("--quiet");
      start(run, words, server.name);
    }
  }
  for (auto& keeper : keepers_) await_begun(keeper, waiting.stop);
}

void LocalKeepers::start(const jobs::Run& run, const std::vector<std::string>& words, const std::string& server) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno(errno, "make a pipe");
  Keeper keeper{.process = {}, .word = Fd(ends[0]), .server = server};
  const Fd write_end(ends[1]);
  // Who runs this has been asked about the run's commands.
  std::vector<std::string> argv = {program_path(), "tend", run.folder.native(), server, "--trust-commands"};
  argv.insert(argv.end(), words.begin(), words.end());
  const std::array<proc::DescriptorMap, 2> descriptors = {{{write_end.get(), 1}, {STDERR_FILENO, 2}}};
  keeper.process = proc::spawn(argv, own_environment(), descriptors, proc::Group::own_group);
  keepers_.push_back(std::move(keeper));
}

void LocalKeepers::await_begun(Keeper& keeper, const std::atomic<int>& stop) {
  const SystemClock clock;
  const auto until = clock.monotonic() + kBegins;
  bool spoke = false;
  while (!spoke && stop.load() == 0 && clock.monotonic() < until) spoke = is_ready(keeper.word.get(), kLook);
  char word = 0;
  if (!spoke && stop.load() != 0) return;
  if (spoke && ::read(keeper.word.get(), &word, 1) == 1) return;
  throw Error(ErrorCode::external, fmt::format("the keeper of the server of model '{}' did not begin; its own words "
                                               "stand above",
                                               keeper.server));
}

LocalKeepers::~LocalKeepers() {
  for (const auto& keeper : keepers_) ::kill(keeper.process.pid, SIGTERM);
  for (const auto& keeper : keepers_) {
    try {
      // Its server dies with it.
      if (!is_ready(keeper.process.pidfd.get(), kEnds)) ::kill(keeper.process.pid, SIGKILL);
      proc::reap(keeper.process);
    } catch (const std::exception& error) {
      warn("the server of model '{}': {}", keeper.server, error.what());
    }
  }
}

void await_servers(const jobs::Run& run, const std::string& owner, const std::vector<jobs::KeptServer>& servers,
                   Patience patience, const Waiting& waiting) {
  for (const auto& server : servers) await_server(server, {run.log_folder(), owner}, patience, waiting);
}

}  // namespace nkigrid::cli
