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
#include <vector>

#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/device/neuron/nrt.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/shared_memory.hpp"

namespace {

using namespace nkigrid::device;
using nkigrid::Error;
using nkigrid::ErrorCode;
using nlohmann::json;
namespace proc = nkigrid::proc;

constexpr int kWork = 3;
// Deadlines are the parent's.
constexpr double kForever = 86400;
constexpr proc::FrameLimits kLimits{1 << 20, 256U << 20};

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

/// Undefined elements of an output: a quiet NaN in floats, a byte pattern elsewhere.
std::vector<std::byte> poisoned(const DeviceTensor& tensor, std::uint32_t nan_bits, std::uint8_t int_byte) {
  std::vector<std::byte> bytes(tensor.bytes, static_cast<std::byte>(int_byte));
  if (tensor.dtype != "float32") return bytes;
  for (std::size_t at = 0; at + sizeof nan_bits <= bytes.size(); at += sizeof nan_bits)
    std::memcpy(bytes.data() + at, &nan_bits, sizeof nan_bits);
  return bytes;
}

/// @pre nkigrid has compared the model's tensors with the task's
void run_once(LoadedModel& model, std::span<std::byte> memory, std::size_t slot_bytes, const proc::Frame& frame) {
  const auto head = json::parse(frame.head);
  const auto file = proc::Mapping::map(frame.descriptors.at(0).get(), head.at("file_bytes").get<std::size_t>(),
                                       proc::Mapping::Access::read_only);
  std::size_t i = 0;
  for (const auto& place : head.at("inputs")) {
    model.write(model.inputs.at(i), file.bytes().subspan(place.at(0).get<std::size_t>(), model.inputs.at(i).bytes));
    ++i;
  }
  for (auto& output : model.outputs)
    model.write(output,
                poisoned(output, head.at("nan_bits").get<std::uint32_t>(), head.at("int_byte").get<std::uint8_t>()));
  model.execute();
  std::size_t offset = head.at("slot").get<std::size_t>() * slot_bytes;
  for (const auto& output : model.outputs) {
    model.read(output, memory.subspan(offset, output.bytes));
    offset += (output.bytes + 63) / 64 * 64;
  }
}

void say(const json& head) {
  proc::write_frame(kWork, head.dump(-1, ' ', false, json::error_handler_t::replace), {}, {},
                    proc::deadline_after(kForever));
}

void serve(const char* library) {
  auto first = proc::read_frame(kWork, proc::deadline_after(kForever), kLimits);
  if (first.end != proc::ReadEnd::frame) return;
  const auto head = json::parse(first.frame.head);
  const auto slot_bytes = head.at("slot_bytes").get<std::size_t>();
  auto memory = proc::Mapping::map(first.frame.descriptors.at(0).get(),
                                   slot_bytes * head.at("slots").get<std::size_t>(), proc::Mapping::Access::read_write);
  const auto nrt = load_nrt(library);
  LoadedModel model(nrt, first.frame.body);
  first = {};
  say({{"inputs", describe(model.inputs)}, {"outputs", describe(model.outputs)}});
  for (;;) {
    const auto next = proc::read_frame(kWork, proc::deadline_after(kForever), kLimits);
    if (next.end != proc::ReadEnd::frame) break;
    run_once(model, memory.writable(), slot_bytes, next.frame);
    say({{"ran", true}});
  }
  model.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    serve(argv[1]);
    return 0;
  } catch (const NrtFailure& failure) {
    say({{"call", failure.call}, {"status", failure.status}});
    return 4;
  } catch (const std::exception& error) {
    say({{"error", error.what()}});
    return 4;
  }
}
