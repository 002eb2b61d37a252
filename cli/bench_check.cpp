#include "cli/bench_check.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

#include "cli/task_bar.hpp"
#include "runner/device/make_device.hpp"
#include "runner/device/pose.hpp"

namespace nkigrid::cli {
namespace {

constexpr std::uint64_t kSeed = 1;  ///< of the draws; the verb `kernel` has the same default
}  // namespace

std::vector<TaskProof> prove_tasks(const jobs::Benchmark& benchmark, const std::vector<const jobs::Task*>& tasks,
                                   const std::function<std::string(const jobs::Task&)>& known) {
  if (tasks.empty()) return {};  // nothing changed: no server is started for it
  const jobs::CheckSpec check;
  const auto paths = device::default_device_paths();
  const jobs::DeviceSpec spec;
  auto servers = device::start_servers(spec.backend, check, paths, std::max(1U, std::thread::hardware_concurrency()));
  const auto device = device::make_device(spec, check, kSeed, std::move(servers), paths);
  std::vector<TaskProof> proofs(tasks.size());
  TaskBar bar("with a fault");
  std::mutex mutex;
  std::size_t done = 0, faulty = 0;
  device::in_shares(tasks.size(), [&](std::size_t begin, std::size_t end) {
    auto share = prove_against_torch(
        benchmark,
        {tasks.begin() + static_cast<std::ptrdiff_t>(begin), tasks.begin() + static_cast<std::ptrdiff_t>(end)}, check,
        paths.libexec);
    for (auto i = begin; i < end; ++i) {
      auto& proof = share[i - begin];
      prove_on_device(*tasks[i], known(*tasks[i]), *device, check.trials, proof);
      const std::lock_guard lock(mutex);
      faulty += proof.faults.empty() ? 0 : 1;
      bar.show(++done, tasks.size(), faulty);
      proofs[i] = std::move(proof);
    }
  });
  return proofs;
}

}  // namespace nkigrid::cli
