#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/device/check/draw_queue.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::device {

/// A process that has draws made (check/reference_worker.py; docs/formats/child_protocol.md).
class ReferenceWorker {
 public:
  /// Starts it and does not wait until it is ready. @param folder of the cache @throws Error{io}
  ReferenceWorker(const std::filesystem::path& program, const std::filesystem::path& folder, bool strict);
  ~ReferenceWorker();
  ReferenceWorker(const ReferenceWorker&) = delete;
  ReferenceWorker& operator=(const ReferenceWorker&) = delete;

  /// The version of its torch; waits for its first word, once. @throws Error{external} where there is no torch
  const std::string& torch();
  /// Has it import torch, once. @returns its answer
  nlohmann::json open();
  void ask(const nlohmann::json& request);
  /// @returns null when nothing came in time @throws Error{external} when it stopped
  nlohmann::json receive(double seconds);
  /// @returns false when nothing came in time
  bool answers_within(double seconds) const;
  /// Of another thread, while an answer is waited for: it gives up the draw that it works on.
  void stop() noexcept;

 private:
  Fd control_;
  proc::Process process_;
  std::string torch_;
  bool is_open_ = false;
};

/// The workers, and who has which. A task's code may take its time or sleep until it is ended: others' draws do not
/// wait for it, and it is asked once. @threads safe
class ReferenceWorkers {
 public:
  explicit ReferenceWorkers(std::function<std::unique_ptr<ReferenceWorker>()> start);

  /// Has one draw made, when its turn comes. @param request of one trial
  /// @returns the worker's answer, or one of the same form that says why there is none in time
  /// @throws Error{external} when the worker stopped; the next caller gets another
  nlohmann::json draw(const DrawQueue::Task& task, const nlohmann::json& request);

  /// One request of a task at a time: who waited finds its draws made, or that they cannot be.
  class TaskTurn {
   public:
    /// @throws Error{external} with what fail() said
    TaskTurn(ReferenceWorkers& of, std::string task);
    ~TaskTurn();
    TaskTurn(const TaskTurn&) = delete;
    TaskTurn& operator=(const TaskTurn&) = delete;

    /// What this process will say of the task from now on. @throws Error{external} with these words
    [[noreturn]] void fail(const std::string& words) const;

   private:
    ReferenceWorkers& of_;
    const std::string task_;
  };

  /// A worker of one's own, and back with it unless it is lost.
  class Loan {
   public:
    Loan(ReferenceWorkers& of, const DrawQueue::Task& task);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    /// The worker has been asked: its time counts, and it can be stopped.
    void begun();
    void lose();

    /// @throws Error{external} when it does not answer; it is lost then, and the next caller gets a new one
    template <class Call>
    auto use(Call call) {
      try {
        worker_->torch();
        return call(*worker_);
      } catch (...) {
        lose();
        throw;
      }
    }

   private:
    void give_back();

    ReferenceWorkers& of_;
    const DrawQueue::Draw draw_;
    std::unique_ptr<ReferenceWorker> worker_;
  };

 private:
  void wait_for_place(DrawQueue::Draw draw);
  std::unique_ptr<ReferenceWorker> take_idle();

  const std::function<std::unique_ptr<ReferenceWorker>()> start_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  DrawQueue queue_;
  std::vector<std::unique_ptr<ReferenceWorker>> idle_;
  std::map<DrawQueue::Draw, ReferenceWorker*> asked_;  // who can be stopped
  std::set<std::string> in_turn_;                      // tasks, by hash
  std::map<std::string, std::string> failed_;          // why no reference of a task can be had, by its hash
};

}  // namespace nkigrid::device
