#include "runner/device/neuron/session.hpp"

#include <array>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "runner/device/neuron/status.hpp"
#include "runner/device/shared/limits.hpp"
#include "runner/device/shared/output_fault.hpp"
#include "runner/device/shared/poison.hpp"
#include "runner/device/shared/run_frames.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;

constexpr double kLoadSeconds = 180;  // the runtime's start and the load of a NEFF
constexpr double kGoSeconds = 20;     // the runtime's own end, which gives the core back in good order

NeuronChild::Spec on_core(NeuronChild::Spec spec, std::uint32_t core) {
  spec.environment.push_back(fmt::format("NEURON_RT_VISIBLE_CORES={}", core));
  return spec;
}

/// A tensor of the NEFF. Bytes that do not fit its shape and type make it one of no type that a task has.
jobs::TensorSpec tensor_in(const json& described) {
  jobs::TensorSpec tensor{"", described.at("shape").get<std::vector<std::int64_t>>(), described.at("dtype"), ""};
  if (described.at("bytes").get<std::size_t>() != bytes_of(tensor)) tensor.dtype.clear();
  return tensor;
}

std::vector<jobs::TensorSpec> tensors_in(const json& described) {
  std::vector<jobs::TensorSpec> tensors;
  for (const auto& one : described) tensors.push_back(tensor_in(one));
  return tensors;
}

bool is_good(const RunOutcome& outcome) {
  return outcome.kind == RunOutcome::Kind::ran && outcome.report.code == Code::none;
}

/// What the NEFF takes against what the task gives. Which arguments a model that takes fewer has left out cannot be
/// told: that is not the kernel's fault. @returns "" when they fit
std::string input_fault(const json& inputs, const jobs::Task& task) {
  if (inputs.size() != task.inputs.size())
    return fmt::format("the NEFF takes {} inputs, the task gives {}", inputs.size(), task.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& given = task.inputs[i];
    if (inputs[i].at("bytes").get<std::size_t>() == bytes_of(given)) continue;
    return fmt::format("input {} of the NEFF is {}, the task gives {}", i, words_of(tensor_in(inputs[i])),
                       words_of(given));
  }
  return {};
}

}  // namespace

NeuronSession::NeuronSession(NeuronChild::Spec child, OutputPool& pool, CoreLease lease, const jobs::Task& task,
                             const std::string& neff)
    : lease_(std::move(lease)), task_(task), memory_(pool, task), child_(on_core(std::move(child), lease_.core())) {
  try {
    remember(load(neff));
  } catch (const std::exception& error) {
    remember(run_ended(RunOutcome::Kind::machinery, error.what()));
  }
}

void NeuronSession::remember(RunOutcome outcome) {
  state_ = std::move(outcome);
  // Outputs of the wrong shape are found before the core has done anything.
  if (!is_good(state_) && state_.report.code != Code::wrong_output_shape_dtype) lease_.mark_suspect();
}

NeuronSession::~NeuronSession() {
  try {
    if (is_good(state_)) {
      child_.finish(Seconds(kGoSeconds));
    } else {
      child_.kill();
    }
  } catch (const std::exception&) {
    memory_.abandon();
  }
}

RunOutcome NeuronSession::load(const std::string& neff) {
  const auto head = first_head(memory_.layout(), kSlots);
  const std::array<int, 1> descriptors = {memory_.descriptor()};
  static_cast<void>(proc::write_frame(child_.work(), head, neff, descriptors, proc::deadline_after(kSendSeconds)));
  auto outcome = receive(Seconds(kLoadSeconds));
  if (outcome.kind == RunOutcome::Kind::late) {
    outcome = run_ended(RunOutcome::Kind::crashed,
                        fmt::format("the runtime did not load the NEFF within {:.0f} s", kLoadSeconds));
  }
  return is_good(outcome) ? compare(reply_) : outcome;
}

/// Reads one reply. @returns `ran`, or what the failure it tells (or its absence) means
RunOutcome NeuronSession::receive(Seconds timeout) {
  const auto read = proc::read_frame(child_.work(), proc::deadline_after(timeout.count()));
  if (read.end == proc::ReadEnd::late) {
    child_.kill();
    return run_ended(RunOutcome::Kind::late);
  }
  if (read.end != proc::ReadEnd::frame) return ended();
  reply_ = read.frame.head;
  const auto reply = json::parse(reply_);
  if (reply.contains("status"))
    return outcome_of_nrt(reply.at("call").get<std::string>(), reply.at("status").get<int>());
  if (reply.contains("error"))
    return run_ended(RunOutcome::Kind::machinery, to_valid_utf8(reply.at("error").get<std::string>()));
  return run_reported({});
}

RunOutcome NeuronSession::ended() { return run_ended(RunOutcome::Kind::crashed, child_.finish(Seconds(kEndSeconds))); }

/// The model's tensors against the task's, before a byte of them is touched.
RunOutcome NeuronSession::compare(const std::string& description) const {
  const auto model = json::parse(description);
  if (auto fault = input_fault(model.at("inputs"), task_); !fault.empty())
    return run_ended(RunOutcome::Kind::machinery, std::move(fault));
  if (auto fault = output_fault(tensors_in(model.at("outputs")), task_); !fault.empty())
    return run_reported({Code::wrong_output_shape_dtype, 0, std::move(fault), {}, {}});
  return run_reported({});
}

RunOutcome NeuronSession::run(const TensorFile& arguments, std::size_t slot, const Poison& poison, Seconds timeout) {
  if (!is_good(state_)) return state_;
  try {
    remember(execute(arguments, slot, poison, timeout));
  } catch (const std::exception& error) {
    remember(run_ended(RunOutcome::Kind::machinery, error.what()));
  }
  if (!is_good(state_)) return state_;
  auto outcome = state_;
  look_for_unwritten(outcome, slot, poison);
  return outcome;
}

RunOutcome NeuronSession::execute(const TensorFile& arguments, std::size_t slot, const Poison& poison,
                                  Seconds timeout) {
  const auto head = run_head(IntoSlot{slot}, arguments, poison);
  const std::array<int, 1> descriptors = {arguments.fd.get()};
  static_cast<void>(proc::write_frame(child_.work(), head, {}, descriptors, proc::deadline_after(timeout.count())));
  return receive(timeout);
}

void NeuronSession::look_for_unwritten(RunOutcome& outcome, std::size_t slot, const Poison& poison) const {
  for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
    const auto bytes = output(slot, i);
    const auto count = count_poison(task_.outputs[i].dtype, bytes, poison);
    outcome.report.unwritten.push_back(count);
    if (count > 0)
      outcome.report.hints.push_back(fmt::format("output {}: {} of {} elements were never written", i, count,
                                                 bytes.size() / sizeof(std::uint32_t)));
  }
}

}  // namespace nkigrid::device
