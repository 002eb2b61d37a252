#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "runner/mpi/comm.hpp"

namespace nkigrid::mpi {
namespace {

struct World {
  explicit World(int ranks) : queues(static_cast<std::size_t>(ranks)) {}
  std::mutex mutex;
  std::condition_variable all_arrived;
  std::vector<std::deque<Incoming>> queues;
  std::size_t waiting = 0;
  std::uint64_t generation = 0;
};

/// One rank of a world of threads: real point-to-point semantics, no MPI.
class ThreadRank final : public Comm {
 public:
  ThreadRank(World& world, int rank) : world_(world), rank_(rank) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return static_cast<int>(world_.queues.size()); }
  void send(int destination, int tag, std::string bytes, std::string_view) override {
    std::lock_guard lock(world_.mutex);
    world_.queues.at(static_cast<std::size_t>(destination)).push_back({rank_, tag, std::move(bytes)});
  }
  std::optional<Incoming> poll(std::string_view) override {
    std::lock_guard lock(world_.mutex);
    auto& queue = world_.queues[static_cast<std::size_t>(rank_)];
    if (queue.empty()) return std::nullopt;
    Incoming message = std::move(queue.front());
    queue.pop_front();
    return message;
  }
  void barrier(std::string_view) override {
    std::unique_lock lock(world_.mutex);
    const auto generation = world_.generation;
    if (++world_.waiting == world_.queues.size()) {
      world_.waiting = 0;
      ++world_.generation;
      world_.all_arrived.notify_all();
    } else {
      world_.all_arrived.wait(lock, [&] { return world_.generation != generation; });
    }
  }
  void abort(ExitCode code) override { std::_Exit(static_cast<int>(code)); }

 private:
  World& world_;
  int rank_;
};

}  // namespace

void run_in_process(int ranks, const std::function<void(Comm&)>& body) {
  World world(ranks);
  std::mutex mutex;
  std::exception_ptr first;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        ThreadRank comm(world, rank);
        try {
          body(comm);
        } catch (...) {
          std::lock_guard lock(mutex);
          if (first == nullptr) first = std::current_exception();
        }
      });
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace nkigrid::mpi
