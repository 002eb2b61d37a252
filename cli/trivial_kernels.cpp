#include "cli/trivial_kernels.hpp"

#include <algorithm>
#include <functional>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace nkigrid::cli {
namespace {

constexpr int kPartitions = 128;

/// The index of one tile: a loop variable for each leading dimension, rows on partitions, the last dimension whole.
std::string tile_index(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::size_t d = 0; d + 2 < shape.size(); ++d) text += fmt::format("l{}, ", d);
  return text + (shape.size() == 1 ? "row" : "row, i_f");
}

using TileValue = std::function<std::string(const jobs::TensorSpec& output)>;

/// Loops that store `value` into every element of `output`, which the kernel calls `name`.
std::string store_loops(const jobs::TensorSpec& output, const std::string& name, const TileValue& value) {
  const auto& shape = output.shape;
  const auto rows = shape.size() == 1 ? shape[0] : shape[shape.size() - 2];
  std::string text, indent = "    ";
  if (shape.size() > 1) text += fmt::format("    i_f = nl.arange({})[None, :]\n", shape.back());
  for (std::size_t d = 0; d + 2 < shape.size(); ++d) {
    text += fmt::format("{}for l{} in nl.affine_range({}):\n", indent, d, shape[d]);
    indent += "    ";
  }
  text += fmt::format("{}for t in nl.affine_range({}):\n", indent, (rows + kPartitions - 1) / kPartitions);
  text += fmt::format("{}    row = t * {} + i_p\n", indent, kPartitions);
  text += fmt::format("{}    tile = {}\n", indent, value(output));
  text += fmt::format("{}    nl.store({}[{}], value=tile, mask=(row < {}))\n", indent, name, tile_index(shape), rows);
  return text;
}

std::string kernel_text(const jobs::Task& task, const TileValue& value) {
  std::vector<std::string> arguments, results;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) arguments.push_back(fmt::format("a{}", i));
  std::string made, body;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    const auto& output = task.outputs[i];
    results.push_back(fmt::format("o{}", i));
    made += fmt::format("    o{} = nl.ndarray(({},), dtype=nl.{}, buffer=nl.shared_hbm)\n", i,
                        fmt::join(output.shape, ", "), output.dtype);
    body += store_loops(output, results.back(), value);
  }
  return fmt::format(
      "from neuronxcc import nki\nimport neuronxcc.nki.language as nl\n\n\n@nki.jit\ndef kernel({}):\n{}"
      "    i_p = nl.arange({})[:, None]\n{}    return {}\n",
      fmt::join(arguments, ", "), made, kPartitions, body, fmt::join(results, ", "));
}

std::string full_tile(const jobs::TensorSpec& output, int value) {
  return fmt::format("nl.full(({}, {}), {}, dtype=nl.{})", kPartitions,
                     output.shape.size() == 1 ? 1 : output.shape.back(), value, output.dtype);
}

std::string loaded_tile(const jobs::TensorSpec& input, std::size_t position) {
  const auto rows = input.shape.size() == 1 ? input.shape[0] : input.shape[input.shape.size() - 2];
  return fmt::format("nl.load(a{}[{}], mask=(row < {}))", position, tile_index(input.shape), rows);
}

}  // namespace

std::vector<TrivialKernel> trivial_kernels(const jobs::Task& task) {
  std::vector<TrivialKernel> kernels;
  kernels.push_back({"zeros", kernel_text(task, [](const auto& output) { return full_tile(output, 0); })});
  kernels.push_back({"ones", kernel_text(task, [](const auto& output) { return full_tile(output, 1); })});
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const auto& input = task.inputs[i];
    const bool fits = std::all_of(task.outputs.begin(), task.outputs.end(), [&](const auto& output) {
      return output.shape == input.shape && output.dtype == input.dtype;
    });
    if (!fits) continue;
    kernels.push_back(
        {"a copy of " + input.name, kernel_text(task, [&](const auto&) { return loaded_tile(input, i); })});
  }
  return kernels;
}

}  // namespace nkigrid::cli
