// What the dealing benchmarks run under mpirun: the runner's coordinator, dealer and messages, with lanes that sleep,
// do nothing, or spawn /bin/true. Rank 0 prints one line of JSON.
//   nkigrid_bench_dealing empty EPISODES LANES | spawn EPISODES LANES | sleep POLICY EPISODES MEAN_SECONDS
// POLICY: dealt (costs known but for noise), exact (costs known), contiguous, hashed.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <thread>

#include <fmt/core.h>

#include "jobs/base/draws.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/dealing.hpp"
#include "jobs/forecast/simulation.hpp"
#include "runner/coordinator.hpp"
#include "runner/mpi/comm.hpp"
#include "runner/poll_backoff.hpp"
#include "runner/prefetch.hpp"

using namespace nkigrid;

namespace {

/// 10 cells x 15 tasks x replicates, with costs spread as episodes' are: cells and tasks differ, and so do repeats of
/// one (cell, task).
struct Work {
  jobs::Run run;
  log::Ledger ledger;
  std::vector<double> expected;  ///< {cells x tasks} [s]
  std::vector<double> seconds;   ///< of each episode [s]

  Work(std::uint32_t episodes, double mean, bool noisy) {
    constexpr std::uint32_t kCells = 10, kTasks = 15;
    auto& plan = run.plan;
    for (std::uint32_t c = 0; c < kCells; ++c) {
      run.grid.models.push_back({.name = fmt::format("m{}", c), .api = jobs::Synthetic{}});
      plan.cells.push_back(
          {.id = fmt::format("m{}.ss.p", c), .model = fmt::format("m{}", c), .mode = "ss", .prompt = "p"});
    }
    for (std::uint32_t t = 0; t < kTasks; ++t) plan.tasks.push_back({fmt::format("L1/{:03}", t), "L1", "c"});
    plan.keys.assign(kCells * kTasks, "0123456789abcdef");
    Draws draws(keyed_hash({"bench", "dealing"}));
    const auto normal = [&] {
      return std::sqrt(-2 * std::log(1 - draws.uniform())) * std::cos(6.283185307179586 * draws.uniform());
    };
    std::vector<double> of_task;
    for (std::uint32_t t = 0; t < kTasks; ++t) of_task.push_back(0.4 * normal());
    // Modes tell most: a cell of single shots beside one of ten turns.
    for (std::uint32_t at = 0; at < kCells * kTasks; ++at)
      expected.push_back(std::exp((at / kTasks) % 2 * 1.6 + of_task[at % kTasks]));
    for (std::uint32_t i = 0; i < episodes; ++i) {
      const std::uint32_t at = static_cast<std::uint32_t>(std::uint64_t{i} * kCells * kTasks / episodes);
      plan.episodes.push_back({.cell = at / kTasks, .task = at % kTasks, .replicate = i + 1});
      seconds.push_back(expected[at] * (noisy ? std::exp(0.4 * normal()) : 1.0));
    }
    scale_to(mean);
    ledger.states.resize(episodes);
    ledger.ends.resize(episodes);
  }
  double total() const {
    double sum = 0;
    for (const double s : seconds) sum += s;
    return sum;
  }
  double longest() const { return *std::max_element(seconds.begin(), seconds.end()); }

 private:
  void scale_to(double mean) {
    const double by = mean * static_cast<double>(seconds.size()) / total();
    for (auto& s : seconds) s *= by;
    for (auto& s : expected) s *= by;
  }
};

void spawn_true() {
  char name[] = "/bin/true";
  char* argv[] = {name, nullptr};
  pid_t pid = 0;
  if (posix_spawn(&pid, name, nullptr, nullptr, argv, environ) != 0) std::exit(1);
  waitpid(pid, nullptr, 0);
}

enum class Body { nothing, spawn, sleep };

/// The lanes of one rank, without threads: a lane that sleeps is a time at which it ends.
class Lanes {
 public:
  Lanes(const Work& work, Body body, std::uint32_t count) : work_(work), body_(body), ends_(count, -1.0) {}
  void give(const std::vector<runner::Assignment>& more) { queue_.insert(queue_.end(), more.begin(), more.end()); }

  std::vector<runner::Done> turn(double now) {
    std::vector<runner::Done> done;
    while (body_ != Body::sleep && !queue_.empty()) {  // what takes no time is done in this turn
      start(0, now);
      done.push_back(finish(0));
    }
    for (std::size_t lane = 0; lane < ends_.size(); ++lane) {
      if (ends_[lane] >= 0 && now >= ends_[lane]) done.push_back(finish(lane));
      if (ends_[lane] < 0 && !queue_.empty()) start(lane, now);
    }
    return done;
  }
  std::uint32_t idle() const { return static_cast<std::uint32_t>(std::count(ends_.begin(), ends_.end(), -1.0)); }
  std::uint32_t queued() const { return static_cast<std::uint32_t>(queue_.size()); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }
  double next_end() const {
    double next = 1e300;
    for (const double end : ends_) next = end >= 0 ? std::min(next, end) : next;
    return next;
  }

 private:
  void start(std::size_t lane, double now) {
    running_.resize(ends_.size());
    running_[lane] = queue_.front().episode;
    queue_.pop_front();
    if (body_ == Body::spawn) spawn_true();
    ends_[lane] = body_ == Body::sleep ? now + work_.seconds[running_[lane]] : now;
  }
  runner::Done finish(std::size_t lane) {
    ends_[lane] = -1;
    return {.episode = running_[lane], .ended = true, .outcome = Outcome::pass, .node = "n"};
  }

  const Work& work_;
  Body body_;
  std::vector<double> ends_;  ///< -1: idle
  std::vector<std::uint32_t> running_;
  std::deque<runner::Assignment> queue_;
};

void sleep_until(double time, const Clock& clock) {
  for (double left; (left = time - clock.monotonic().count()) > 0;)
    std::this_thread::sleep_for(std::chrono::duration<double>(left));
}

/// The runner's loop with these lanes.
void work_dealt(const Work& work, mpi::Comm& comm, Lanes& lanes, const Clock& clock) {
  std::optional<runner::Coordinator> coordinator;
  if (comm.rank() == 0) {
    runner::Dealer dealer(work.run.plan, work.run.grid, jobs::dealing_order(work.run.plan, work.expected, std::nullopt),
                          work.ledger, false);
    coordinator.emplace(comm, std::move(dealer), runner::PermitOffice(work.run.grid),
                        runner::Progress(STDERR_FILENO, false, true, clock), clock);
  }
  runner::WorkRequests requests;
  runner::PollBackoff pause;
  for (bool finished = false; !finished;) {
    bool moved = false;
    while (auto message = comm.poll("bench")) {
      moved = true;
      const auto tag = static_cast<runner::Tag>(message->tag);
      if (tag == runner::Tag::want || tag == runner::Tag::done) coordinator->handle(*message);
      if (tag == runner::Tag::finish) finished = true;
      if (tag != runner::Tag::work) continue;
      const auto more = runner::decode_work(message->bytes);
      requests.received(more.size());
      lanes.give(more);
    }
    const auto now = clock.monotonic();
    const auto done = lanes.turn(now.count());
    if (!done.empty()) comm.send(0, static_cast<int>(runner::Tag::done), runner::encode(done), "bench");
    requests.ended(static_cast<std::uint32_t>(done.size()), now);
    const auto want = finished ? std::nullopt : requests.ask(lanes.count(), lanes.idle(), lanes.queued(), "n", now);
    if (want) comm.send(0, static_cast<int>(runner::Tag::want), runner::encode(*want), "bench");
    if (coordinator) coordinator->tick();
    if (moved || want || !done.empty())
      pause.moved();
    else if (!finished)
      sleep_until(std::min(now.count() + pause.next().count(), lanes.next_end()), clock);
  }
}

/// A fixed share of the episodes, one after the other.
void work_fixed(const Work& work, mpi::Comm& comm, bool hashed, const Clock& clock) {
  const auto size = static_cast<std::uint64_t>(comm.size()), count = std::uint64_t{work.seconds.size()};
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto owner = hashed ? keyed_hash({"owner", std::to_string(i)}) % size : i * size / count;
    if (owner == static_cast<std::uint64_t>(comm.rank()))
      sleep_until(clock.monotonic().count() + work.seconds[i], clock);
  }
}

/// What `plan` says of this element: one shard, one lane a rank.
double simulated(const Work& work, std::uint32_t ranks) {
  jobs::CostTable costs;
  costs.tasks = work.run.plan.tasks.size();
  for (const double s : work.expected) costs.costs.push_back({.seconds = s});
  costs.factors = {1.0};
  costs.endpoint_share.assign(work.run.plan.cells.size(), 0.0);
  const jobs::RunSimulator simulator(work.run.grid, work.run.plan, costs, 1);
  return simulator.simulate({.shards = 1, .ranks_per_node = ranks, .lanes = 1}).makespan - jobs::kElementSeconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || !mpi::under_launcher()) return 2;
  const std::string kind = argv[1];
  const bool sleeps = kind == "sleep";
  const std::string policy = sleeps ? argv[2] : "dealt";
  const auto comm = mpi::make_mpi(&argc, &argv);
  const SystemClock clock;
  const Work work(static_cast<std::uint32_t>(std::atoi(argv[sleeps ? 3 : 2])), sleeps ? std::atof(argv[4]) : 1.0,
                  policy != "exact");
  Lanes lanes(work,
              sleeps            ? Body::sleep
              : kind == "spawn" ? Body::spawn
                                : Body::nothing,
              sleeps ? 1 : static_cast<std::uint32_t>(std::atoi(argv[3])));
  comm->barrier("start");
  const auto start = clock.monotonic();
  if (policy == "contiguous" || policy == "hashed")
    work_fixed(work, *comm, policy == "hashed", clock);
  else
    work_dealt(work, *comm, lanes, clock);
  comm->barrier("end");
  const auto took = (clock.monotonic() - start).count();
  const auto ranks = static_cast<std::uint32_t>(comm->size());
  if (comm->rank() == 0) {
    fmt::print(R"({{"seconds": {}, "episodes": {}, "ideal": {}, "longest": {}, "simulated": {}}})"
               "\n",
               took, work.seconds.size(), std::max(work.total() / ranks, work.longest()), work.longest(),
               sleeps ? simulated(work, ranks) : 0.0);
  }
  return 0;
}
