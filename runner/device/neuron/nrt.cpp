#include "runner/device/neuron/nrt.hpp"

#include <dlfcn.h>

#include <string>

#include "jobs/base/error.hpp"

namespace nkigrid::device {
namespace {

template <class Function>
void find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  if (into == nullptr) throw Error(ErrorCode::external, std::string("the Neuron runtime has no function ") + name);
}

}  // namespace

Nrt load_nrt(const char* library) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr)
    throw Error(ErrorCode::external, std::string("the Neuron runtime cannot be loaded: ") + ::dlerror());
  Nrt nrt{};
  find(handle, "nrt_init", nrt.init);
  find(handle, "nrt_load", nrt.load);
  find(handle, "nrt_unload", nrt.unload);
  find(handle, "nrt_get_model_tensor_info", nrt.get_model_tensor_info);
  find(handle, "nrt_free_model_tensor_info", nrt.free_model_tensor_info);
  find(handle, "nrt_tensor_allocate", nrt.tensor_allocate);
  find(handle, "nrt_tensor_write", nrt.tensor_write);
  find(handle, "nrt_tensor_read", nrt.tensor_read);
  find(handle, "nrt_tensor_free", nrt.tensor_free);
  find(handle, "nrt_allocate_tensor_set", nrt.allocate_tensor_set);
  find(handle, "nrt_add_tensor_to_tensor_set", nrt.add_tensor_to_tensor_set);
  find(handle, "nrt_destroy_tensor_set", nrt.destroy_tensor_set);
  find(handle, "nrt_execute", nrt.execute);
  find(handle, "nrt_close", nrt.close);
  return nrt;
}

const char* nrt_dtype_name(int code, std::size_t element_bytes) {
  // Counting: float32 1, float16 2, bfloat16 3, int8 4, uint8 5, int16 6, uint16 7, int32 8, ... Newer: uint8 3,
  // bfloat16 6, int32 8, float32 10.
  if (element_bytes == 4) return code == 1 || code == 10 ? "float32" : code == 8 ? "int32" : "";
  if (element_bytes == 2) return code == 3 || code == 6 ? "bfloat16" : "";
  if (element_bytes == 1) return code == 3 || code == 5 ? "uint8" : "";
  return "";
}

}  // namespace nkigrid::device
