#include "runner/device/values.hpp"

namespace nkigrid::device {

std::string_view to_string(Stream stream) noexcept {
  switch (stream) {
    case Stream::tool:
      return "tool";
    case Stream::final_check:
      return "final";
    case Stream::bench:
      return "bench";
  }
  return "";
}

std::size_t bytes_of(const jobs::TensorSpec& tensor) {
  std::size_t size = tensor.dtype == "uint8" ? 1 : tensor.dtype == "bfloat16" ? 2 : 4;
  for (const auto extent : tensor.shape) size *= static_cast<std::size_t>(extent);
  return size;
}

}  // namespace nkigrid::device
