// A stand-in for libnrt.so in tests, with the interface of the public headers nrt.h and nrt_experimental.h, written
// from them and not from ours. It executes the toy NEFFs of the stand-in compiler with the simulator's engine.
//
// What it does wrong it is told by a NEFF's directives and by the file `control/nrt` beside the library, a line each:
//   CALL STATUS   that call returns STATUS      zeros   outputs are all zeros, with success
//   crash, hang   in nrt_execute                poison N   the core's next N executions fail with 1004: kept in
//   dev/neuron0, the "device"
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/nkisim/engine/run.hpp"
#include "runner/nkisim/program/parse.hpp"
#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/validate.hpp"

namespace {
namespace fs = std::filesystem;
namespace nkisim = nkigrid::nkisim;
using nlohmann::json;
}  // namespace

extern "C" {

struct nrt_tensor_info_t {
  char name[256];
  int usage;
  size_t size;
  int dtype;
  uint32_t* shape;
  uint32_t ndim;
};

struct nrt_tensor_info_array_t {
  uint64_t tensor_count;
  nrt_tensor_info_t tensor_array[64];
};

struct nrt_tensor_t {
  std::vector<std::byte> bytes;
};

struct nrt_tensor_set_t {
  std::map<std::string, nrt_tensor_t*> tensors;
};

struct nrt_model_t {
  json about;
  nkisim::Program program;
  std::vector<std::vector<uint32_t>> shapes;
};
}

namespace {

bool initialised = false;

fs::path own_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&own_folder), &info);
  return fs::path(info.dli_fname).parent_path();
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> orders_for(const nrt_model_t* model) {
  auto orders = lines_of(own_folder() / "control" / "nrt");
  if (model != nullptr)
    for (const auto& order : model->about.at("nrt")) orders.push_back(order.get<std::string>());
  return orders;
}

/// What a call is told to return; 0: to work.
int told(const char* call, const nrt_model_t* model = nullptr) {
  for (const auto& order : orders_for(model)) {
    std::istringstream words(order);
    std::string name;
    int status = 0;
    if (words >> name >> status && name == call) return status;
  }
  return 0;
}

bool is_told(const char* what, const nrt_model_t* model) {
  for (const auto& order : orders_for(model))
    if (order == what) return true;
  return false;
}

/// The "device": core -> executions that still fail.
class DeviceState {
 public:
  DeviceState() {
    std::ifstream file(path());
    for (std::string core; file >> core;) file >> failing_[core];
  }
  void fail_next(int count) { failing_[core()] = count, write(); }
  bool takes_failure() {
    auto& left = failing_[core()];
    if (left <= 0) return false;
    --left;
    write();
    return true;
  }

 private:
  static fs::path path() { return own_folder() / "dev" / "neuron0"; }
  static std::string core() {
    const char* name = getenv("NEURON_RT_VISIBLE_CORES");
    return name == nullptr ? "none" : name;
  }
  void write() const {
    std::ofstream file(path());
    for (const auto& [core, count] : failing_) file << core << " " << count << "\n";
  }
  std::map<std::string, int> failing_;
};

int dtype_code(const std::string& name) {
  const std::map<std::string, int> codes = {
      {"float32", 10}, {"bfloat16", 6}, {"int32", 8}, {"uint8", 3}, {"float16", 7}};
  const auto found = codes.find(name);
  return found == codes.end() ? 0 : found->second;
}

size_t element_bytes(const std::string& name) {
  return name == "uint8" ? 1 : name == "bfloat16" || name == "float16" ? 2 : 4;
}

void describe(nrt_model_t& model, const char* side, int usage, nrt_tensor_info_array_t& into) {
  int number = 0;
  for (const auto& tensor : model.about.at(side)) {
    auto& info = into.tensor_array[into.tensor_count++];
    snprintf(info.name, sizeof info.name, "%s%d", side, number++);
    info.usage = usage;
    info.dtype = dtype_code(tensor.at("dtype"));
    model.shapes.push_back(tensor.at("shape").get<std::vector<uint32_t>>());
    info.shape = model.shapes.back().data();
    info.ndim = static_cast<uint32_t>(model.shapes.back().size());
    info.size = element_bytes(tensor.at("dtype"));
    for (const auto extent : model.shapes.back()) info.size *= extent;
  }
}

std::vector<nrt_tensor_t*> in_order(const nrt_tensor_set_t* set, const char* side) {
  std::vector<nrt_tensor_t*> tensors;
  for (size_t i = 0; i < set->tensors.size(); ++i) tensors.push_back(set->tensors.at(side + std::to_string(i)));
  return tensors;
}

/// The engine makes outputs undefined before it starts; a device leaves in them what was there.
nkisim::Poison what_was_there(const nrt_model_t& model, const std::vector<nrt_tensor_t*>& outputs) {
  nkisim::Poison poison;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (model.about.at("outputs")[i].at("dtype") == "float32")
      memcpy(&poison.nan_bits, outputs[i]->bytes.data(), sizeof poison.nan_bits);
    else
      poison.int_byte = static_cast<uint8_t>(outputs[i]->bytes[0]);
  }
  return poison;
}

int run(const nrt_model_t& model, const nrt_tensor_set_t* inputs, nrt_tensor_set_t* outputs) {
  std::vector<std::span<const std::byte>> in;
  for (const auto* tensor : in_order(inputs, "inputs")) in.emplace_back(tensor->bytes);
  const auto written = in_order(outputs, "outputs");
  std::vector<std::span<std::byte>> out;
  for (auto* tensor : written) out.emplace_back(tensor->bytes);
  const auto report = nkisim::run_program(model.program, in, out, what_was_there(model, written));
  return report.code == nkigrid::Code::none ? 0 : report.code == nkigrid::Code::oob ? 1006 : 1004;
}

}  // namespace

extern "C" {

int nrt_init(int framework, const char*, const char*) {
  if (framework != 1 || getenv("NEURON_RT_VISIBLE_CORES") == nullptr) return 2;
  if (const int status = told("nrt_init"); status != 0) return status;
  initialised = true;
  return 0;
}

void nrt_close() { initialised = false; }

int nrt_load(const void* neff, size_t size, int32_t, int32_t, nrt_model_t** model) {
  if (!initialised) return 13;
  const auto* bytes = static_cast<const char*>(neff);
  if (size < 12 || memcmp(bytes, "FAKENEFF", 8) != 0) return 2;
  uint32_t length = 0;
  memcpy(&length, bytes + 8, sizeof length);
  auto loaded = std::make_unique<nrt_model_t>();
  try {
    loaded->about = json::parse(std::string(bytes + 12, length));
    loaded->program = nkisim::parse_program(std::string(bytes + 12 + length, size - 12 - length));
    nkisim::validate(loaded->program);
  } catch (const std::exception&) {
    return 2;
  }
  loaded->shapes.reserve(64);
  if (const int status = told("nrt_load", loaded.get()); status != 0) return status;
  *model = loaded.release();
  return 0;
}

int nrt_unload(nrt_model_t* model) {
  delete model;
  return 0;
}

int nrt_get_model_tensor_info(nrt_model_t* model, nrt_tensor_info_array_t** info) {
  *info = new nrt_tensor_info_array_t{};
  describe(*model, "outputs", 1, **info);  // in no order that could be relied on
  describe(*model, "inputs", 0, **info);
  return 0;
}

int nrt_free_model_tensor_info(nrt_tensor_info_array_t* info) {
  delete info;
  return 0;
}

int nrt_tensor_allocate(int placement, int, size_t size, const char*, nrt_tensor_t** tensor) {
  if (placement != 0) return 2;
  *tensor = new nrt_tensor_t{std::vector<std::byte>(size)};
  return 0;
}

void nrt_tensor_free(nrt_tensor_t** tensor) { delete *tensor; }

int nrt_tensor_write(nrt_tensor_t* tensor, const void* bytes, size_t offset, size_t size) {
  if (offset + size > tensor->bytes.size()) return 2;
  memcpy(tensor->bytes.data() + offset, bytes, size);
  return 0;
}

int nrt_tensor_read(const nrt_tensor_t* tensor, void* bytes, size_t offset, size_t size) {
  if (offset + size > tensor->bytes.size()) return 2;
  memcpy(bytes, tensor->bytes.data() + offset, size);
  return 0;
}

int nrt_allocate_tensor_set(nrt_tensor_set_t** set) {
  *set = new nrt_tensor_set_t;
  return 0;
}

void nrt_destroy_tensor_set(nrt_tensor_set_t** set) { delete *set; }

int nrt_add_tensor_to_tensor_set(nrt_tensor_set_t* set, const char* name, nrt_tensor_t* tensor) {
  set->tensors[name] = tensor;
  return 0;
}

int nrt_execute(nrt_model_t* model, const nrt_tensor_set_t* inputs, nrt_tensor_set_t* outputs) {
  if (DeviceState().takes_failure()) return 1004;
  if (const int count = told("poison", model); count > 0) {
    DeviceState().fail_next(count);
    return 1004;
  }
  if (const int status = told("nrt_execute", model); status != 0) return status;
  if (is_told("crash", model)) raise(SIGSEGV);
  while (is_told("hang", model)) pause();
  const int status = run(*model, inputs, outputs);
  if (is_told("zeros", model))
    for (auto& [name, tensor] : outputs->tensors) std::fill(tensor->bytes.begin(), tensor->bytes.end(), std::byte{0});
  return status;
}
}
