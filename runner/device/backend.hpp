#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/base/error.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/device/paths.hpp"
#include "runner/device/tensor_file.hpp"
#include "runner/device/values.hpp"

// The port that a backend stands behind. It names no backend and nothing that only one of them has.

namespace nkigrid::device {

/// Nothing can be executed on this machine any more (a server that cannot be kept alive, no core that works): the run
/// stops here, where every other failure costs one check.
class DeviceLost : public Error {
 public:
  using Error::Error;
};

/// What one try to compile came to.
struct CompileAttempt {
  CompileResult result;
  /// Why the machinery, and not the kernel, may be at fault (a child that died, a compiler's exit 70); "": it is not.
  /// The caller then compiles the canary, and calls the failure INFRA when that fails too.
  std::string doubt;
};

inline CompileAttempt failed_compile(Code code, Stage stage, std::string message, std::string doubt = {}) {
  CompileAttempt attempt;
  attempt.result.diagnostic = {code, stage, 0, std::move(message)};
  attempt.doubt = std::move(doubt);
  return attempt;
}

/// How one execution ended.
struct RunOutcome {
  enum class Kind {
    ran,       ///< `report` says how it went; outputs are in the slot when its code is none
    late,      ///< killed at run_timeout
    denied,    ///< it did what no program may do
    crashed,   ///< the child ended, or the device was lost: tried once more
    machinery  ///< the server failed
  };
  Kind kind = Kind::machinery;
  RunReport report;
  std::string words;
};

inline RunOutcome run_ended(RunOutcome::Kind kind, std::string words = {}) { return {kind, {}, std::move(words)}; }
inline RunOutcome run_reported(RunReport report) { return {RunOutcome::Kind::ran, std::move(report), {}}; }

/// Why a kernel that runs may give wrong numbers, in words that name its variables and lines.
struct Explanation {
  std::vector<std::string> causes;  ///< "variable `acc` (line 12) was read before it was written, ..."
  std::vector<std::string> narrow;  ///< variables of fewer bits than float32: a cause where the error is of that size
};

/// One artifact, ready to run as often as asked. @threads one caller
class Session {
 public:
  /// Sets of outputs that there is room for: the first trial's stay, one is looked at, one is run into.
  static constexpr std::size_t kSlots = 3;

  virtual ~Session() = default;
  /// Executes once into a slot, which starts poisoned. After anything but `ran` the session is over. Never throws.
  virtual RunOutcome run(const TensorFile& arguments, std::size_t slot, const Poison& poison, Seconds timeout) = 0;
  /// Says what run() will be asked after all that was said so before, so that a backend can begin with it while its
  /// caller still looks at other outputs. @pre run() is asked for the same, in this order; nobody looks at `slot` until
  /// then. Never throws.
  virtual void expect(const TensorFile& /*arguments*/, std::size_t /*slot*/, const Poison& /*poison*/) {}
  /// Bytes of one output, of the size the task gives it. @pre the last run into this slot `ran` with code none
  virtual std::span<const std::byte> output(std::size_t slot, std::size_t output) const = 0;

  /// Runs again, watched. Empty where a backend cannot look inside, or ran out of time; the session may be over then,
  /// so this is the last thing to ask of it. Never throws.
  virtual Explanation explain(const TensorFile&, Seconds) { return {}; }
  /// What other orders of affine_range trips change, a line each. Nothing where the backend cannot choose the order, or
  /// failed. Never throws.
  virtual std::optional<std::vector<std::string>> compare_orders(const TensorFile&, std::uint64_t /*seed*/, Seconds) {
    return std::nullopt;
  }
};

/// What a backend brings: it compiles a source and executes what came of it. Draws, references, verdicts, the repeat,
/// evidence of cheating, retries and the canary are the same for all of them (check/). @threads every call from many
/// lanes at once
class Backend {
 public:
  virtual ~Backend() = default;

  /// @pre the source obeys source_fault(). @param timeout [s], from now
  virtual CompileAttempt compile(const jobs::Task& task, const std::string& source,
                                 const std::optional<std::string>& entry, Seconds timeout) = 0;
  /// @throws DeviceLost when nothing can be executed any more; Error{external} when only this artifact could not be
  /// opened
  virtual std::unique_ptr<Session> open(const jobs::Task& task, const Artifact& artifact) = 0;

  /// As Device::profile(). @pre `artifact` is of this backend
  virtual std::optional<std::string> profile(const Artifact&) { return std::nullopt; }

  /// True where a kernel's late end or an output of nothing but zeros may be the device's doing: the canary then has to
  /// pass before it is believed.
  virtual bool may_be_at_fault() const { return false; }
  /// True where something beside this machine's processors executes.
  virtual bool is_hardware() const { return false; }

  virtual std::string name() const = 0;      ///< "sim"
  virtual std::string compiler() const = 0;  ///< e.g. "2.24+nkisim"
};

/// Processes that a backend needs started before MPI_Init, before any thread, before a key or a seed is read: they fork
/// children for hostile work, and what this process never held no child can find.
class BackendServers {
 public:
  virtual ~BackendServers() = default;
};

/// What every backend is made from, beside what the grid says of it alone.
struct BackendSetup {
  const jobs::NkiOptions& options;
  const jobs::CheckSpec& check;
  const DevicePaths& paths;
};

}  // namespace nkigrid::device
