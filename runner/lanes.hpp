#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "jobs/run_directory.hpp"
#include "runner/device/device.hpp"
#include "runner/endpoint_gate.hpp"
#include "runner/histories.hpp"
#include "runner/log/journal.hpp"
#include "runner/messages.hpp"
#include "runner/model/model.hpp"
#include "runner/stop.hpp"
#include "runner/tally.hpp"

namespace nkigrid::runner {

/// What every lane of a rank works with. Outlives the lanes.
struct LaneContext {
  const jobs::Run& run;
  device::Device& device;
  log::Journal& journal;
  const Clock& clock;
  std::map<std::string, std::unique_ptr<model::ChatModel>> models;
  std::string node;
  std::uint32_t rank = 0;
  TurnClock& turns;
  Histories& histories;
  EndpointGate& gate;
};

/// The main thread's bell: lanes ring, the main thread sleeps until someone does or a time has passed.
class Bell {
 public:
  void ring();
  void wait(Seconds at_most);

 private:
  std::mutex mutex_;
  std::condition_variable rung_;
  bool pending_ = false;
};

/// The lanes of one rank: threads that each run one episode at a time, straight through.
class LanePool {
 public:
  LanePool(const LaneContext& context, Bell& bell, std::uint32_t lanes);
  ~LanePool();  ///< drains and joins

  void give(std::vector<Assignment> work);
  /// Lanes without work, less what waits for them.
  std::uint32_t idle_lanes() const;
  /// Episodes that wait here for a lane.
  std::uint32_t queued() const;
  std::uint32_t lanes() const noexcept { return static_cast<std::uint32_t>(threads_.size()); }
  /// Begins nothing more, no turn either; turns in flight run on, what waits comes back as not begun.
  void close();
  /// close(), and waits for retries and permits end, requests in flight get their grace.
  void drain();
  /// Begins no turn of these cells (indices into plan.cells); turns in flight run on.
  void close_cells(const std::vector<std::uint32_t>& cells);

  struct Events {
    std::vector<Done> done;
    std::vector<Trouble> troubles;
    std::vector<Spent> spent;
  };
  Events take_events();
  bool idle() const;  ///< nothing waits, nothing runs
  std::uint32_t running() const;

 private:
  void work(std::stop_token stop);
  void run_one(const Assignment& assignment);
  void run_attempt(const Assignment& assignment, Done& done);
  bool may_begin(std::uint32_t cell);
  bool is_outage(const jobs::CellSpec& cell, const model::ChatError& error);
  void report(Done done);
  void report(Trouble trouble);
  void report(std::uint32_t cell, const Tally::Cost& cost);

  const LaneContext& context_;
  Bell& bell_;
  mutable std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::deque<Assignment> waiting_;
  std::uint32_t running_ = 0;
  Events events_;
  std::atomic<bool> closed_{false};
  std::vector<std::atomic<bool>> closed_cells_;  ///< parallel to plan.cells
  bool tells_costs_;                             ///< the grid has a budget
  std::stop_source drain_;
  std::vector<std::jthread> threads_;
};

}  // namespace nkigrid::runner
