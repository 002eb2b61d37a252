#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "runner/device/draw_source.hpp"
#include "runner/device/tensor_file.hpp"
#include "runner/device/values.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::device {

class ReferenceWorkers;

/// One draw: what a kernel gets, and what it should give.
struct Trial {
  TensorFile arguments;  ///< its descriptor may go to a run child
  TensorFile expected;   ///< never leaves this process
};

/// Inputs and expected outputs of trials, computed once a (run seed, task, stream, trial, torch version) on this node.
/// Lanes of one process share it; processes of one node share its folder. @threads safe
class ReferenceCache {
 public:
  /// @param folder made when absent; must belong to this user alone
  /// @param check its sandbox is the tasks', and its last trial of the final check is drawn from the secret
  /// @throws Error{io} when the folder cannot be used; Error{config} when a strict sandbox cannot be had
  ReferenceCache(std::filesystem::path worker, std::filesystem::path folder, DrawSource draws,
                 const jobs::CheckSpec& check);
  ~ReferenceCache();

  /// Trials 0 .. count-1 of a stream; those that are not there are computed, each when its turn comes: of tasks that
  /// take long two at most are worked on (draw_queue.hpp). Who waits for long is told on stderr.
  /// @throws Error{external} when the worker cannot: torch is missing, or the task does not fit its index, sleeps, or
  /// works for too long (the text says which). A task that failed by its own fault is not asked again by this process.
  std::vector<std::shared_ptr<const Trial>> trials(const jobs::Task& task, Stream stream, std::uint32_t count);

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const Trial>>;

  std::shared_ptr<const Trial> find(const std::string& key);
  std::shared_ptr<const Trial> load(const std::string& key);
  void remember(const std::string& key, std::shared_ptr<const Trial> trial);
  void compute(const jobs::Task& task, Stream stream, const std::vector<std::uint32_t>& missing);
  bool is_secret(Stream stream, std::uint32_t trial) const {
    return !draws_.secret.empty() && stream == Stream::final_check && trial == secret_trial_;
  }
  std::string seed_of(const jobs::Task& task, Stream stream, std::uint32_t trial) const;
  const std::string& torch_version();
  std::string key_of(const jobs::Task& task, Stream stream, std::uint32_t trial);

  std::filesystem::path folder_;
  DrawSource draws_;
  std::uint32_t secret_trial_;
  std::unique_ptr<ReferenceWorkers> workers_;
  std::mutex version_mutex_;
  std::string torch_version_;  // guarded by version_mutex_ until set, then constant
  std::mutex mutex_;           // guards what follows
  std::list<Entry> recent_;    // newest first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
};

/// A secret for checks that belong to no run, the same as long as this node's cache lives: its draws are cached, too.
/// @throws Error{io}
std::string secret_of_node(const std::filesystem::path& cache_folder);

}  // namespace nkigrid::device
