// The run child of the neuron backend: loads one NEFF on the NeuronCore it was given and executes it as often as asked,
// on inputs from a read-only file into shared memory. It never holds expectations, seeds or keys;
// docs/formats/child_protocol.md.
//
// usage: nkigrid_nrt_run LIBNRT      NEURON_RT_VISIBLE_CORES names the core; descriptor 3 is the stream to nkigrid
#include <unistd.h>

#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/device/neuron/nrt.hpp"
#include "runner/device/shared/limits.hpp"
#include "runner/device/shared/output_layout.hpp"
#include "runner/device/shared/poison.hpp"
#include "runner/device/shared/run_frames.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/shared_memory.hpp"

namespace {

using namespace nkigrid::device;
using nkigrid::Error;
using nkigrid::ErrorCode;
using nkigrid::ExitCode;
using nlohmann::json;
namespace proc = nkigrid::proc;

constexpr int kWork = 3;

/// A call of the runtime that did not succeed.
struct NrtFailure {
  const char* call;
  int status;
};

void check(int status, const char* call) {
  if (status != kNrtSuccess) throw NrtFailure{call, status};
}

/// One tensor of the model on the device.
struct DeviceTensor {
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;
  NrtTensor* handle = nullptr;
};

/// A NEFF on a core, with its tensors.
class LoadedModel {
 public:
  LoadedModel(const Nrt& nrt, const std::string& neff) : nrt_(nrt) {
    check(nrt_.init(kNrtNoFramework, "", ""), "nrt_init");
    check(nrt_.load(neff.data(), neff.size(), 0, -1, &model_), "nrt_load");
    NrtTensorInfoArray* info = nullptr;
    check(nrt_.get_model_tensor_info(model_, &info), "nrt_get_model_tensor_info");
    for (std::uint64_t i = 0; i < info->count; ++i) add(info->tensors[i]);
    nrt_.free_model_tensor_info(info);
    bind(inputs, &input_set_);
    bind(outputs, &output_set_);
  }

  /// Frees all; the device is another's afterwards.
  void close() {
    nrt_.destroy_tensor_set(&input_set_);
    nrt_.destroy_tensor_set(&output_set_);
    for (auto* side : {&inputs, &outputs}) {
      for (auto& tensor : *side) nrt_.tensor_free(&tensor.handle);
    }
    nrt_.unload(model_);
    nrt_.close();
  }

  void write(DeviceTensor& tensor, std::span<const std::byte> bytes) {
    check(nrt_.tensor_write(tensor.handle, bytes.data(), 0, bytes.size()), "nrt_tensor_write");
  }
  void read(const DeviceTensor& tensor, std::span<std::byte> into) {
    check(nrt_.tensor_read(tensor.handle, into.data(), 0, into.size()), "nrt_tensor_read");
  }
  void execute() { check(nrt_.execute(model_, input_set_, output_set_), "nrt_execute"); }

  std::vector<DeviceTensor> inputs, outputs;

 private:
  void add(const NrtTensorInfo& info) {
    DeviceTensor tensor;
    tensor.name.assign(info.name, ::strnlen(info.name, sizeof info.name));
    tensor.bytes = info.size;
    std::size_t elements = 1;
    for (std::uint32_t d = 0; d < info.ndim; ++d) {
      tensor.shape.push_back(info.shape[d]);
      elements *= info.shape[d];
    }
    tensor.dtype = nrt_dtype_name(info.dtype, elements == 0 ? 0 : info.size / elements);
    check(nrt_.tensor_allocate(kNrtOnDevice, 0, info.size, tensor.name.c_str(), &tensor.handle), "nrt_tensor_allocate");
    (info.usage == kNrtInput ? inputs : outputs).push_back(std::move(tensor));
  }

  void bind(std::vector<DeviceTensor>& tensors, NrtTensorSet** set) {
    check(nrt_.allocate_tensor_set(set), "nrt_allocate_tensor_set");
    for (auto& tensor : tensors)
      check(nrt_.add_tensor_to_tensor_set(*set, tensor.name.c_str(), tensor.handle), "nrt_add_tensor_to_tensor_set");
  }

  const Nrt& nrt_;
  NrtModel* model_ = nullptr;
  NrtTensorSet* input_set_ = nullptr;
  NrtTensorSet* output_set_ = nullptr;
};

json describe(const std::vector<DeviceTensor>& tensors) {
  json list = json::array();
  for (const auto& tensor : tensors)
    list.push_back({{"name", tensor.name}, {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"bytes", tensor.bytes}});
  return list;
}

std::vector<std::size_t> sizes_of(const std::vector<DeviceTensor>& tensors) {
  std::vector<std::size_t> sizes;
  for (const auto& tensor : tensors) sizes.push_back(tensor.bytes);
  return sizes;
}

/// @pre nkigrid has compared the model's tensors with the task's
void run_once(LoadedModel& model, std::span<std::byte> memory, const OutputLayout& layout, const proc::Frame& frame) {
  const auto run = parse_run(frame);
  for (std::size_t i = 0; i < run.inputs.size(); ++i) model.write(model.inputs.at(i), run.inputs[i]);
  for (auto& output : model.outputs) model.write(output, poisoned(output.dtype, output.bytes, run.poison));
  model.execute();
  const auto start = std::get<IntoSlot>(run.question).slot * layout.slot_bytes;
  for (std::size_t i = 0; i < model.outputs.size(); ++i)
    model.read(model.outputs[i], memory.subspan(start + layout.offsets[i], layout.bytes[i]));
}

void say(const json& head) {
  proc::write_frame(kWork, head.dump(-1, ' ', false, json::error_handler_t::replace), {}, {},
                    proc::deadline_after(kForeverSeconds));
}

void serve(const char* library) {
  auto first = proc::read_frame(kWork, proc::deadline_after(kForeverSeconds), kArtifactFrame);
  if (first.end != proc::ReadEnd::frame) return;
  auto memory = outputs_of_first(first.frame);
  const auto nrt = load_nrt(library);
  LoadedModel model(nrt, first.frame.body);
  first = {};
  const auto layout = layout_of(sizes_of(model.outputs));
  say({{"inputs", describe(model.inputs)}, {"outputs", describe(model.outputs)}});
  for (;;) {
    const auto next = proc::read_frame(kWork, proc::deadline_after(kForeverSeconds), kArtifactFrame);
    if (next.end != proc::ReadEnd::frame) break;
    run_once(model, memory.writable(), layout, next.frame);
    say({{"ran", true}});
  }
  model.close();
}

}  // namespace

int main(int argc, char** argv) {
  auto code = ExitCode::external;
  try {
    if (argc == 2) serve(argv[1]);
    code = argc == 2 ? ExitCode::done : ExitCode::usage;
  } catch (const NrtFailure& failure) {
    say({{"call", failure.call}, {"status", failure.status}});
  } catch (const std::exception& error) {
    say({{"error", error.what()}});
  }
  return static_cast<int>(code);
}
