#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobs/base/files.hpp"

namespace nkigrid::device {

/// The right to use one NeuronCore, node-wide. Ends with the object, or with the process whatever becomes of it.
class CoreLease {
 public:
  CoreLease(std::uint32_t core, Fd lock) : core_(core), lock_(std::move(lock)) {}
  ~CoreLease();
  CoreLease(CoreLease&&) noexcept = default;
  CoreLease& operator=(CoreLease&&) = delete;

  std::uint32_t core() const noexcept { return core_; }
  /// What ran here did not end well: whoever has the core next proves it first.
  void mark_suspect() noexcept { suspect_ = true; }
  void mark_good() noexcept { suspect_ = false; }

 private:
  std::uint32_t core_;
  Fd lock_;
  bool suspect_ = false;
};

/// NeuronCores shared by all processes of this user on a node: a file a core, whose flock is the lease and whose
/// content is the core's state. A killed owner's lock is gone with it, and its state still says "busy": the next owner
/// proves the core first.
/// @threads safe
class CorePool {
 public:
  /// Runs the canary on one core that the caller has. @returns why it failed, or ""
  using Prove = std::function<std::string(std::uint32_t core)>;

  /// @param folder node-local, made when absent, 0700. @throws Error{io} when it cannot be used; Error{config} when it
  /// is another's
  CorePool(std::filesystem::path folder, std::vector<std::uint32_t> cores, Prove prove);

  /// Waits for a core that works. A core is proved by the canary when this process has it for the first time and when
  /// its last user failed or was killed; one that fails twice is retired from this process. @throws DeviceLost when
  /// none is left
  CoreLease lease();

 private:
  std::optional<CoreLease> try_lease(std::uint32_t core);
  [[noreturn]] void give_up() const;

  std::filesystem::path folder_;
  std::vector<std::uint32_t> cores_;
  Prove prove_;
  mutable std::mutex mutex_;  // guards what follows
  std::set<std::uint32_t> proven_;
  std::map<std::uint32_t, std::string> retired_;  // and why
  std::size_t next_ = 0;
};

/// Where this node's leases lie: $NKIGRID_CORES, else /tmp/nkigrid-cores-UID (not $TMPDIR, which jobs have one each).
std::filesystem::path cores_folder();

}  // namespace nkigrid::device
