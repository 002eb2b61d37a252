#include "runner/device/neuron/session.hpp"

#include <array>
#include <cstring>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "runner/device/neuron/status.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;

constexpr double kLoadSeconds = 180;  // the runtime's start and the load of a NEFF
constexpr double kSendSeconds = 60;
constexpr double kGoSeconds = 20;  // the runtime's own end, which gives the core back in good order

NeuronChild::Spec on_core(NeuronChild::Spec spec, std::uint32_t core) {
  spec.environment.push_back(fmt::format("NEURON_RT_VISIBLE_CORES={}", core));
  return spec;
}

OutputLayout layout_for(const jobs::Task& task) {
  std::vector<std::size_t> sizes;
  for (const auto& output : task.outputs) sizes.push_back(bytes_of(output));
  return layout_of(sizes);
}

std::string words_of(const json& tensor) {
  const auto dtype = tensor.at("dtype").get<std::string>();
  return fmt::format("[{}] {}", fmt::join(tensor.at("shape").get<std::vector<std::int64_t>>(), ", "),
                     dtype.empty() ? "of a type no task has" : dtype);
}

bool is_good(const RunOutcome& outcome) {
  return outcome.kind == RunOutcome::Kind::ran && outcome.report.code == Code::none;
}

RunOutcome ran() { return {RunOutcome::Kind::ran, {}, {}}; }

/// Elements that hold the poison still. A byte alone proves nothing.
std::uint64_t count_poison(std::span<const std::byte> bytes, const std::string& dtype, const nkisim::Poison& poison) {
  if (dtype == "uint8") return 0;
  std::uint32_t pattern = poison.nan_bits;
  if (dtype != "float32") std::memset(&pattern, poison.int_byte, sizeof pattern);
  std::uint64_t count = 0;
  for (std::size_t at = 0; at + sizeof pattern <= bytes.size(); at += sizeof pattern) {
    if (std::memcmp(bytes.data() + at, &pattern, sizeof pattern) == 0) ++count;
  }
  return count;
}

}  // namespace

NeuronSession::NeuronSession(NeuronChild::Spec child, OutputPool& pool, CoreLease lease, const jobs::Task& task,
                             const std::string& neff)
    : lease_(std::move(lease)),
      pool_(pool),
      task_(task),
      layout_(layout_for(task)),
      buffer_(pool.take(layout_.slot_bytes * kSlots)),
      child_(on_core(std::move(child), lease_.core())) {
  try {
    remember(load(neff));
  } catch (const std::exception& error) {
    remember({RunOutcome::Kind::machinery, {}, error.what()});
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
    pool_.give_back(std::move(buffer_));
  } catch (const std::exception&) {
    // A buffer that cannot be kept is a buffer made anew.
  }
}

RunOutcome NeuronSession::load(const std::string& neff) {
  const json head = {{"slots", kSlots}, {"slot_bytes", layout_.slot_bytes}};
  const std::array<int, 1> descriptors = {buffer_.fd.get()};
  static_cast<void>(
      proc::write_frame(child_.work(), head.dump(), neff, descriptors, proc::deadline_after(kSendSeconds)));
  auto outcome = receive(Seconds(kLoadSeconds));
  if (outcome.kind == RunOutcome::Kind::late) {
    outcome = {
        RunOutcome::Kind::crashed, {}, fmt::format("the runtime did not load the NEFF within {:.0f} s", kLoadSeconds)};
  }
  return is_good(outcome) ? compare(reply_) : outcome;
}

/// Reads one reply. @returns `ran`, or what the failure it tells (or its absence) means
RunOutcome NeuronSession::receive(Seconds timeout) {
  const auto read = proc::read_frame(child_.work(), proc::deadline_after(timeout.count()));
  if (read.end == proc::ReadEnd::late) {
    child_.kill();
    return {RunOutcome::Kind::late, {}, {}};
  }
  if (read.end != proc::ReadEnd::frame) return ended();
  reply_ = read.frame.head;
  const auto reply = json::parse(reply_);
  if (reply.contains("status"))
    return outcome_of_nrt(reply.at("call").get<std::string>(), reply.at("status").get<int>());
  if (reply.contains("error"))
    return {RunOutcome::Kind::machinery, {}, to_valid_utf8(reply.at("error").get<std::string>())};
  return ran();
}

RunOutcome NeuronSession::ended() { return {RunOutcome::Kind::crashed, {}, child_.finish(Seconds(kEndSeconds))}; }

/// The model's tensors against the task's, before a byte of them is touched.
RunOutcome NeuronSession::compare(const std::string& description) const {
  const auto model = json::parse(description);
  const auto &inputs = model.at("inputs"), &outputs = model.at("outputs");
  // Which arguments a model that takes fewer has left out cannot be told: that is not the kernel's fault.
  if (inputs.size() != task_.inputs.size()) {
    return {RunOutcome::Kind::machinery,
            {},
            fmt::format("the NEFF takes {} inputs, the task gives {}", inputs.size(), task_.inputs.size())};
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].at("bytes").get<std::size_t>() == bytes_of(task_.inputs[i])) continue;
    return {RunOutcome::Kind::machinery,
            {},
            fmt::format("input {} of the NEFF is {}, the task gives [{}] {}", i, words_of(inputs[i]),
                        fmt::join(task_.inputs[i].shape, ", "), task_.inputs[i].dtype)};
  }
  auto misfit = ran();
  misfit.report.code = Code::wrong_output_shape_dtype;
  if (outputs.size() != task_.outputs.size()) {
    misfit.report.message =
        fmt::format("the kernel returns {} tensors, the task has {} outputs", outputs.size(), task_.outputs.size());
    return misfit;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& want = task_.outputs[i];
    if (outputs[i].at("dtype") == want.dtype && outputs[i].at("shape").get<std::vector<std::int64_t>>() == want.shape &&
        outputs[i].at("bytes").get<std::size_t>() == bytes_of(want))
      continue;
    misfit.report.message = fmt::format("output {} is {}, the task wants [{}] {}", i, words_of(outputs[i]),
                                        fmt::join(want.shape, ", "), want.dtype);
    return misfit;
  }
  return ran();
}

RunOutcome NeuronSession::run(const TensorFile& arguments, std::size_t slot, const nkisim::Poison& poison,
                              Seconds timeout) {
  if (!is_good(state_)) return state_;
  try {
    remember(execute(arguments, slot, poison, timeout));
  } catch (const std::exception& error) {
    remember({RunOutcome::Kind::machinery, {}, error.what()});
  }
  if (!is_good(state_)) return state_;
  auto outcome = state_;
  look_for_unwritten(outcome, slot, poison);
  return outcome;
}

RunOutcome NeuronSession::execute(const TensorFile& arguments, std::size_t slot, const nkisim::Poison& poison,
                                  Seconds timeout) {
  json head = {{"slot", slot},
               {"nan_bits", poison.nan_bits},
               {"int_byte", poison.int_byte},
               {"file_bytes", arguments.mapping.size()},
               {"inputs", json::array()}};
  for (const auto& tensor : arguments.tensors) head["inputs"].push_back({tensor.offset, tensor.bytes});
  const std::array<int, 1> descriptors = {arguments.fd.get()};
  static_cast<void>(
      proc::write_frame(child_.work(), head.dump(), {}, descriptors, proc::deadline_after(timeout.count())));
  return receive(timeout);
}

void NeuronSession::look_for_unwritten(RunOutcome& outcome, std::size_t slot, const nkisim::Poison& poison) const {
  for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
    const auto bytes = output(slot, i);
    const auto count = count_poison(bytes, task_.outputs[i].dtype, poison);
    outcome.report.unwritten.push_back(count);
    if (count > 0)
      outcome.report.hints.push_back(fmt::format("output {}: {} of {} elements were never written", i, count,
                                                 bytes.size() / sizeof(std::uint32_t)));
  }
}

std::span<const std::byte> NeuronSession::output(std::size_t slot, std::size_t output) const {
  return buffer_.mapping.bytes().subspan(slot * layout_.slot_bytes + layout_.offsets.at(output),
                                         layout_.bytes.at(output));
}

}  // namespace nkigrid::device
