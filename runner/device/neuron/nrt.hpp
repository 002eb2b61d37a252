#pragma once

#include <cstddef>
#include <cstdint>

namespace nkigrid::device {

// The part of the Neuron runtime's C interface that running one NEFF takes. Layouts and numbers of the public headers
// nrt.h and nrt_experimental.h; the library is loaded by path, so nothing of the vendor's is needed to build.

struct NrtModel;
struct NrtTensor;
struct NrtTensorSet;

inline constexpr int kNrtSuccess = 0;
inline constexpr int kNrtNoFramework = 1;
inline constexpr int kNrtOnDevice = 0;  ///< tensor placement
inline constexpr int kNrtInput = 0, kNrtOutput = 1;

struct NrtTensorInfo {
  char name[256];
  int usage;
  std::size_t size;  ///< [B]
  int dtype;
  std::uint32_t* shape;
  std::uint32_t ndim;
};

struct NrtTensorInfoArray {
  std::uint64_t count;
  NrtTensorInfo tensors[1];  ///< `count` of them
};

/// The functions, by their names in the library.
struct Nrt {
  int (*init)(int framework, const char* framework_version, const char* fal_version);
  int (*load)(const void* neff, std::size_t size, std::int32_t first_core, std::int32_t core_count, NrtModel** model);
  int (*unload)(NrtModel* model);
  int (*get_model_tensor_info)(NrtModel* model, NrtTensorInfoArray** info);
  int (*free_model_tensor_info)(NrtTensorInfoArray* info);
  int (*tensor_allocate)(int placement, int core, std::size_t size, const char* name, NrtTensor** tensor);
  int (*tensor_write)(NrtTensor* tensor, const void* bytes, std::size_t offset, std::size_t size);
  int (*tensor_read)(const NrtTensor* tensor, void* bytes, std::size_t offset, std::size_t size);
  void (*tensor_free)(NrtTensor** tensor);
  int (*allocate_tensor_set)(NrtTensorSet** set);
  int (*add_tensor_to_tensor_set)(NrtTensorSet* set, const char* name, NrtTensor* tensor);
  void (*destroy_tensor_set)(NrtTensorSet** set);
  int (*execute)(NrtModel* model, const NrtTensorSet* inputs, NrtTensorSet* outputs);
  void (*close)();
};

/// Loads the library. @throws Error{external} naming what it lacks
Nrt load_nrt(const char* library);

/// The task's name of an element type ("float32", "bfloat16", "int32", "uint8"), "" for others. Two numberings are in
/// use, an older one that counts and a newer one; with the size of an element each code is one type only.
/// @param element_bytes [B]
const char* nrt_dtype_name(int code, std::size_t element_bytes);

}  // namespace nkigrid::device
