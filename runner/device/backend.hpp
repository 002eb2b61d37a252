#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runner/device/device.hpp"
#include "runner/device/tensor_file.hpp"
#include "runner/nkisim/diagnose/diagnose.hpp"
#include "runner/nkisim/engine/engine.hpp"

namespace nkigrid::device {

/// What one try to compile came to.
struct CompileAttempt {
  CompileResult result;
  /// Why the machinery, and not the kernel, may be at fault (a child that died, a compiler's exit 70); "": it is not.
  /// The caller then compiles the canary, and calls the failure INFRA when that fails too.
  std::string doubt;
};

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
  nkisim::RunReport
      report;  ///< a code WRONG_OUTPUT_SHAPE_DTYPE: the artifact's outputs are not the task's; message says how
  std::string words;
};

/// One artifact, ready to run as often as asked. @threads one caller
class Session {
 public:
  static constexpr std::size_t kSlots = 2;  ///< room for two sets of outputs: the first trial's stay while others run

  virtual ~Session() = default;
  /// Executes once into a slot, which starts poisoned. After anything but `ran` the session is over. Never throws.
  virtual RunOutcome run(const TensorFile& arguments, std::size_t slot, const nkisim::Poison& poison,
                         Seconds timeout) = 0;
  /// Bytes of one output, of the size the task gives it. @pre the last run into this slot `ran` with code none
  virtual std::span<const std::byte> output(std::size_t slot, std::size_t output) const = 0;

  /// Why the numbers may be wrong: runs again, watched. Empty where a backend cannot look inside, or ran out of time;
  /// the session may be over then, so this is the last thing to ask of it. Never throws.
  virtual nkisim::Diagnosis diagnose(const TensorFile&, Seconds) { return {}; }
  /// What other orders of affine_range trips change. Nothing where the backend cannot choose the order, or failed.
  /// Never throws.
  virtual std::optional<std::vector<nkisim::OrderFinding>> compare_orders(const TensorFile&, std::uint64_t /*seed*/,
                                                                          Seconds) {
    return std::nullopt;
  }
};

/// What a backend brings: it compiles a source and executes what came of it. Draws, references, verdicts, the repeat,
/// evidence of cheating, retries and the canary are the same for all of them (checker.cpp). @threads every call from
/// many lanes at once
class Backend {
 public:
  virtual ~Backend() = default;

  /// @pre the source obeys source_fault(). @param timeout [s], from now
  virtual CompileAttempt compile(const jobs::Task& task, const std::string& source,
                                 const std::optional<std::string>& entry, Seconds timeout) = 0;
  /// @throws ServerLost when nothing can be executed any more; Error{external} when only this artifact could not be
  /// opened
  virtual std::unique_ptr<Session> open(const jobs::Task& task, const Artifact& artifact) = 0;

  /// True where a kernel's late end or an output of nothing but zeros may be the device's doing: the canary then has to
  /// pass before it is believed.
  virtual bool doubts_the_device() const { return false; }

  virtual std::string name() const = 0;      ///< "sim"
  virtual std::string compiler() const = 0;  ///< e.g. "2.24+nkisim"
};

/// The device over a backend: what make_device() does with the grid's own. @throws Error{external} when the canary
/// kernel fails
std::unique_ptr<Device> make_checked_device(std::unique_ptr<Backend> backend, const jobs::CheckSpec& check,
                                            std::uint64_t run_seed, const DevicePaths& paths);

}  // namespace nkigrid::device
