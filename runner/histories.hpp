#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "jobs/run_directory.hpp"
#include "runner/log/history.hpp"

namespace nkigrid::runner {

/// Durable turns of earlier attempts. Those of an earlier session are read together, in one pass over the log, when the
/// first of them is wanted; an attempt that fails in this session is read alone.
/// @threads take() from any number of lanes
class Histories {
 public:
  explicit Histories(const jobs::Run& run) : run_(run) {}

  /// @param episodes indices into the plan of what an earlier session left turns of
  void expect(std::vector<std::uint32_t> episodes);
  /// The turns to continue from; each is handed out once from memory, then read anew. @throws Error{io}, Error{corrupt}
  std::vector<log::LoggedTurn> take(std::uint32_t episode);

 private:
  log::HistoryKey key_of(std::uint32_t episode) const;
  void read_expected();

  const jobs::Run& run_;
  std::mutex mutex_;
  std::vector<std::uint32_t> expected_;
  std::map<std::uint32_t, std::vector<log::LoggedTurn>> read_;
};

}  // namespace nkigrid::runner
