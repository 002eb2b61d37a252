#include "cli/bench_check.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include <fmt/core.h>

#include "runner/device/make_device.hpp"
#include "runner/device/pose.hpp"
#include "runner/progress.hpp"

namespace nkigrid::cli {
namespace {

constexpr std::uint64_t kSeed = 1;  ///< of the draws; the verb `kernel` has the same default
constexpr int kBarWidth = 40;

/// How far the proof is, on a terminal. @threads safe
class Bar {
 public:
  explicit Bar(std::size_t total) : total_(total), shown_(runner::is_terminal(STDERR_FILENO)) {}
  ~Bar() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;

  void step(bool faulty) {
    const std::lock_guard lock(mutex_);
    ++done_;
    faulty_ += faulty ? 1 : 0;
    if (!shown_) return;
    const auto filled = static_cast<int>(kBarWidth * done_ / total_);
    fmt::print(stderr, "\r\x1b[K[{:=<{}}{: <{}}] {} of {} tasks, {} with a fault", "", filled, "", kBarWidth - filled,
               done_, total_, faulty_);
  }

 private:
  std::mutex mutex_;
  std::size_t total_, done_ = 0, faulty_ = 0;
  bool shown_;
};

}  // namespace

std::vector<TaskProof> prove_tasks(const jobs::Benchmark& benchmark, const std::vector<const jobs::Task*>& tasks,
                                   const std::function<std::string(const jobs::Task&)>& known) {
  const jobs::CheckSpec check;
  const auto paths = device::default_device_paths();
  const jobs::DeviceSpec spec;
  auto servers = device::start_servers(spec.backend, check, paths, std::max(1U, std::thread::hardware_concurrency()));
  const auto device = device::make_device(spec, check, kSeed, std::move(servers), paths);
  std::vector<TaskProof> proofs(tasks.size());
  Bar bar(tasks.size());
  device::in_shares(tasks.size(), [&](std::size_t begin, std::size_t end) {
    auto share = prove_against_torch(
        benchmark,
        {tasks.begin() + static_cast<std::ptrdiff_t>(begin), tasks.begin() + static_cast<std::ptrdiff_t>(end)}, check,
        paths.libexec);
    for (auto i = begin; i < end; ++i) {
      auto& proof = share[i - begin];
      prove_on_device(*tasks[i], known(*tasks[i]), *device, check.trials, proof);
      bar.step(!proof.faults.empty());
      proofs[i] = std::move(proof);
    }
  });
  return proofs;
}

}  // namespace nkigrid::cli
