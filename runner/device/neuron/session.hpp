#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/device/backend.hpp"
#include "runner/device/neuron/child.hpp"
#include "runner/device/neuron/cores.hpp"
#include "runner/device/shared/output_memory.hpp"

namespace nkigrid::device {

/// One NEFF on one leased core, in a single-use run child. After anything but a run that went well the core is suspect.
class NeuronSession final : public Session {
 public:
  /// Starts the child and loads the NEFF; what goes wrong shows at the first run.
  /// @param child how to start it, without the core. @throws Error{io} when it cannot be started
  NeuronSession(NeuronChild::Spec child, OutputPool& pool, CoreLease lease, const jobs::Task& task,
                const std::string& neff);
  ~NeuronSession() override;
  NeuronSession(const NeuronSession&) = delete;
  NeuronSession& operator=(const NeuronSession&) = delete;

  RunOutcome run(const TensorFile& arguments, std::size_t slot, const Poison& poison, Seconds timeout) override;
  std::span<const std::byte> output(std::size_t slot, std::size_t output) const override {
    return memory_.output(slot, output);
  }

 private:
  RunOutcome load(const std::string& neff);
  RunOutcome execute(const TensorFile& arguments, std::size_t slot, const Poison& poison, Seconds timeout);
  RunOutcome receive(Seconds timeout);
  RunOutcome compare(const std::string& description) const;
  RunOutcome ended();
  void look_for_unwritten(RunOutcome& outcome, std::size_t slot, const Poison& poison) const;

  void remember(RunOutcome outcome);

  CoreLease lease_;  // first: it ends last
  const jobs::Task task_;
  OutputMemory memory_;  // before the child: it is given back when the child has ended
  NeuronChild child_;
  RunOutcome state_;  // `ran` without a code: go on; else what is to be said, again and again
  std::string reply_;
};

}  // namespace nkigrid::device
