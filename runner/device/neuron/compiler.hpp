#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "runner/device/backend.hpp"
#include "runner/device/neuron/child.hpp"
#include "runner/device/neuron/vendor_compiler.hpp"

namespace nkigrid::device {

/// The vendor's compiler: one single-use child a kernel, with a cache and a scratch folder of its own, and no device.
/// @threads safe: at most as many at once as the machine has processors; the others wait, outside their time-out
class KernelToNeff {
 public:
  KernelToNeff(const jobs::NeuronSpec& spec, const BackendSetup& setup, NeuronCompiler compiler);

  /// @param timeout [s] from the end of the compiler's own import, which has a cap of its own
  CompileAttempt compile(const jobs::Task& task, const std::string& source, const std::optional<std::string>& entry,
                         Seconds timeout);

  /// The longest import so far [s]: reported by `doctor`.
  double import_seconds() const;

 private:
  class Slot;
  NeuronChild::Spec child_spec() const;
  std::string import_fault(NeuronChild& child);
  /// Nothing when a stop signal ended the child: it says nothing of the kernel the first time.
  std::optional<CompileAttempt> compile_in_child(const jobs::Task& task, const std::string& source,
                                                 const std::optional<std::string>& entry, Seconds timeout);

  jobs::NkiOptions options_;
  std::string flags_;
  bool strict_;
  NeuronCompiler compiler_;
  std::filesystem::path libexec_, entry_rules_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable freed_;
  std::size_t free_slots_;
  double import_seconds_ = 0;
};

}  // namespace nkigrid::device
