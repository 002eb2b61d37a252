#include "runner/device/check/reference.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/run_secret.hpp"
#include "runner/device/shared/private_folder.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/sandbox_properties.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double kStartSeconds = 60;
constexpr double kComputeSeconds = 900;
constexpr std::chrono::seconds kSpareAfter{5};  // a draw takes moments; a worker that takes longer has a long one
constexpr std::size_t kMostWorkers = 3;         // each holds torch: some 200 MB
constexpr std::uint64_t kFolderLimitBytes = 8ULL << 30;
// Open files: two a trial. A benchmark of hundreds of tasks cycles through them; the page cache keeps the bytes.
constexpr std::size_t kRemembered = 192;

}  // namespace

/// The running worker process.
struct ReferenceCache::Worker {
  Fd control;
  proc::Process process;
  std::string torch;  ///< its version, once greet() has returned

  Worker(const fs::path& file, const fs::path& folder, bool strict) {
    auto pair = proc::make_socket_pair(proc::SocketKind::stream);
    const std::array<proc::DescriptorMap, 1> descriptors = {{{pair.theirs.get(), 3}}};
    auto environment = proc::numeric_environment();
    environment.emplace_back("LANG=C.UTF-8");
    environment.emplace_back("PYTHONHASHSEED=0");
    process =
        proc::spawn({NKIGRID_PYTHON, "-s", "-B", file.native(), folder.native(), std::to_string(kFolderLimitBytes),
                     file.parent_path() / "libnkigrid_sandbox.so", strict ? "strict" : "relaxed"},
                    environment, descriptors, proc::Group::own_session);
    control = std::move(pair.ours);
  }
  ~Worker() {
    control = Fd();
    try {
      if (!proc::wait_readable(process.pidfd.get(), proc::deadline_after(1))) ::kill(process.pid, SIGKILL);
      proc::reap(process);
    } catch (const Error&) {
      // Nothing can be done for a worker that cannot be waited for.
    }
  }

  /// Waits until it is ready, once.
  void greet() {
    if (!torch.empty()) return;
    const auto hello = receive(kStartSeconds);
    if (hello.is_null()) throw Error(ErrorCode::external, "the reference worker did not start in time");
    torch = hello.value("torch", "");
    if (torch.empty())
      throw Error(ErrorCode::external,
                  "the reference worker finds no torch for " NKIGRID_PYTHON "; install python3-torch");
  }

  /// @returns null when nothing came in time
  json receive(double seconds) {
    const auto result = proc::read_frame(control.get(), proc::deadline_after(seconds));
    if (result.end == proc::ReadEnd::late) return {};
    auto reply = json::parse(result.frame.head, nullptr, false);
    if (result.end != proc::ReadEnd::frame || !reply.is_object())
      throw Error(ErrorCode::external, "the reference worker stopped");
    return reply;
  }

  /// @returns null when nothing came in time
  json ask(const json& request) {
    if (!proc::write_frame(control.get(), request.dump(), {}, {}, proc::deadline_after(kStartSeconds)))
      throw Error(ErrorCode::external, "the reference worker stopped");
    return receive(kComputeSeconds);
  }
};

/// The workers, and who has which. A task's code may take its time or sleep until it is ended: others' draws do not
/// wait for it, and it is asked once.
class ReferenceCache::Workers {
 public:
  explicit Workers(std::function<std::unique_ptr<Worker>()> start) : start_(std::move(start)) {
    idle_.push_back(start_());
  }

  /// One request of a task at a time: who waited finds its draws made, or that they cannot be.
  class TaskTurn {
   public:
    TaskTurn(Workers& of, const std::string& task) : of_(of), task_(task) {
      std::unique_lock lock(of_.mutex_);
      of_.changed_.wait(lock, [&] { return !of_.asked_.contains(task_); });
      if (const auto failed = of_.failed_.find(task_); failed != of_.failed_.end())
        throw Error(ErrorCode::external, failed->second);
      of_.asked_.insert(task_);
    }
    ~TaskTurn() {
      const std::lock_guard lock(of_.mutex_);
      of_.asked_.erase(task_);
      of_.changed_.notify_all();
    }
    TaskTurn(const TaskTurn&) = delete;
    TaskTurn& operator=(const TaskTurn&) = delete;

    /// What this process will say of the task from now on. @throws Error{external} with these words
    [[noreturn]] void fail(const std::string& words) const {
      const std::lock_guard lock(of_.mutex_);
      of_.failed_[task_] = words;
      throw Error(ErrorCode::external, words);
    }

   private:
    Workers& of_;
    const std::string task_;
  };

  /// A worker of one's own, and back with it unless it is lost.
  class Loan {
   public:
    explicit Loan(Workers& of) : of_(of), worker_(of.take()) {}
    ~Loan() {
      const std::lock_guard lock(of_.mutex_);
      if (worker_) of_.idle_.push_back(std::move(worker_));
      --of_.lent_;
      of_.changed_.notify_all();
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    void lose() noexcept { worker_.reset(); }

    /// @throws Error{external} when it does not answer; it is lost then, and the next caller gets a new one
    template <class Call>
    auto use(Call call) {
      try {
        worker_->greet();
        return call(*worker_);
      } catch (const Error&) {
        lose();
        throw;
      }
    }

   private:
    Workers& of_;
    std::unique_ptr<Worker> worker_;
  };

 private:
  std::unique_ptr<Worker> take() {
    std::unique_lock lock(mutex_);
    const auto is_idle = [&] { return !idle_.empty(); };
    const auto may_start = [&] { return idle_.empty() && lent_ < kMostWorkers; };
    while (!is_idle()) {
      const bool waited = lent_ == 0 || !changed_.wait_for(lock, kSpareAfter, is_idle);
      if (waited && may_start()) idle_.push_back(start_());
    }
    auto worker = std::move(idle_.back());
    idle_.pop_back();
    ++lent_;
    return worker;
  }

  const std::function<std::unique_ptr<Worker>()> start_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Worker>> idle_;
  std::size_t lent_ = 0;
  std::set<std::string> asked_;                // tasks, by hash
  std::map<std::string, std::string> failed_;  // why no reference of a task can be had, by its hash
};

ReferenceCache::ReferenceCache(fs::path worker, fs::path folder, DrawSource draws, const jobs::CheckSpec& check)
    : folder_(std::move(folder)), draws_(std::move(draws)), secret_trial_(check.trials - 1) {
  const bool strict = check.strict_sandbox;
  proc::require_sandbox(strict ? proc::SandboxLevel::strict : proc::SandboxLevel::relaxed);
  make_private_folder(folder_);
  workers_ = std::make_unique<Workers>([worker = std::move(worker), folder = folder_, strict] {
    return std::make_unique<Worker>(worker, folder, strict);
  });
}

ReferenceCache::~ReferenceCache() = default;

std::string ReferenceCache::seed_of(const jobs::Task& task, Stream stream, std::uint32_t trial) const {
  const auto seed = std::to_string(draws_.seed), number = std::to_string(trial);
  if (is_secret(stream, trial))
    return std::to_string(keyed_hash({seed, draws_.secret, task.hash, to_string(stream), number}));
  return std::to_string(keyed_hash({seed, task.hash, to_string(stream), number}));
}

const std::string& ReferenceCache::torch_version() {
  const std::lock_guard lock(version_mutex_);
  if (torch_version_.empty())
    torch_version_ = Workers::Loan(*workers_).use([](const Worker& worker) { return worker.torch; });
  return torch_version_;
}

std::string ReferenceCache::key_of(const jobs::Task& task, Stream stream, std::uint32_t trial) {
  return Sha256()
      .field(std::to_string(draws_.seed))
      .field(is_secret(stream, trial) ? sha256_hex(draws_.secret) : "")
      .field(task.hash)
      .field(to_string(stream))
      .field(std::to_string(trial))
      .field(torch_version())
      .hex()
      .substr(0, 40);
}

std::shared_ptr<const Trial> ReferenceCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->second;
}

void ReferenceCache::remember(const std::string& key, std::shared_ptr<const Trial> trial) {
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return;
  recent_.emplace_front(key, std::move(trial));
  by_key_[key] = recent_.begin();
  if (recent_.size() <= kRemembered) return;
  by_key_.erase(recent_.back().first);
  recent_.pop_back();
}

std::shared_ptr<const Trial> ReferenceCache::load(const std::string& key) {
  if (auto known = find(key)) return known;
  auto expected = open_tensor_file(folder_ / (key + ".out"));
  auto arguments = open_tensor_file(folder_ / (key + ".in"));
  if (!expected || !arguments) {
    // A file that is there but damaged goes: the worker leaves alone what it finds.
    if (!expected) ::unlink((folder_ / (key + ".out")).c_str());
    if (!arguments) ::unlink((folder_ / (key + ".in")).c_str());
    return nullptr;
  }
  auto trial = std::make_shared<const Trial>(Trial{std::move(*arguments), std::move(*expected)});
  remember(key, trial);
  return trial;
}

void ReferenceCache::compute(const jobs::Task& task, Stream stream, const std::vector<std::uint32_t>& missing) {
  const Workers::TaskTurn turn(*workers_, task.hash);
  const auto entry = json::parse(task.index_entry);
  json request = {{"task", task.id},
                  {"source", task.source},
                  {"inputs", entry.at("inputs")},
                  {"outputs", entry.at("outputs")},
                  {"trials", json::array()}};
  for (const auto trial : missing) {
    const auto key = key_of(task, stream, trial);
    if (load(key)) continue;  // another lane asked for the same while we waited
    request["trials"].push_back({{"trial", trial}, {"key", key}, {"seed", seed_of(task, stream, trial)}});
  }
  if (request["trials"].empty()) return;
  Workers::Loan loan(*workers_);
  const auto reply = loan.use([&](Worker& worker) { return worker.ask(request); });
  if (reply.is_null()) {
    loan.lose();
    turn.fail(fmt::format("no reference for task '{}': its draws were not made in {:.0f} s", task.id, kComputeSeconds));
  }
  if (reply.value("ok", false)) return;
  const auto words = fmt::format("no reference for task '{}': {}", task.id, reply.value("error", "no reason given"));
  if (reply.value("of_task", false)) turn.fail(words);
  throw Error(ErrorCode::external, words);
}

std::vector<std::shared_ptr<const Trial>> ReferenceCache::trials(const jobs::Task& task, Stream stream,
                                                                 std::uint32_t count) {
  std::vector<std::shared_ptr<const Trial>> found(count);
  // Twice: what was computed may have been pruned by another process before we opened it.
  for (int round = 0; round < 3; ++round) {
    std::vector<std::uint32_t> missing;
    for (std::uint32_t t = 0; t < count; ++t) {
      if (!found[t]) found[t] = load(key_of(task, stream, t));
      if (!found[t]) missing.push_back(t);
    }
    if (missing.empty()) return found;
    if (round < 2) compute(task, stream, missing);
  }
  throw Error(ErrorCode::external,
              fmt::format("reference files of task '{}' in '{}' do not stay readable", task.id, folder_.native()));
}

std::string secret_of_node(const fs::path& cache_folder) {
  make_private_folder(cache_folder);
  return jobs::make_secret(cache_folder);
}

}  // namespace nkigrid::device
