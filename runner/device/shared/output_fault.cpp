#include "runner/device/shared/output_fault.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace nkigrid::device {

std::string words_of(const jobs::TensorSpec& tensor) {
  return fmt::format("[{}] {}", fmt::join(tensor.shape, ", "),
                     tensor.dtype.empty() ? "of a type no task has" : tensor.dtype);
}

std::string output_fault(std::span<const jobs::TensorSpec> made, const jobs::Task& task) {
  if (made.size() != task.outputs.size())
    return fmt::format("the kernel returns {} tensors, the task has {} outputs", made.size(), task.outputs.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto& want = task.outputs[i];
    if (made[i].shape == want.shape && made[i].dtype == want.dtype) continue;
    return fmt::format("output {} is {}, the task wants {}", i, words_of(made[i]), words_of(want));
  }
  return {};
}

}  // namespace nkigrid::device
