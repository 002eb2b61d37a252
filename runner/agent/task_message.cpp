#include "runner/agent/task_message.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/agent/modes.hpp"

namespace nkigrid::agent {
namespace {

/// The PyTorch file without the lines that tell the benchmark's checks what torch cannot (docs/formats/benchmark.md):
/// its category, and what a tolerance does not see, are no part of the problem.
std::string without_notes(std::string_view source) {
  std::string text;
  while (!source.empty()) {
    const std::string_view line = source.substr(0, std::min(source.find('\n'), source.size()));
    source.remove_prefix(std::min(line.size() + 1, source.size()));
    if (!line.starts_with("# nkigrid:")) text += fmt::format("{}\n", line);
  }
  return text;
}

std::string tensor_line(std::string_view name, const jobs::TensorSpec& tensor) {
  return fmt::format("{} [{}] {}", name, fmt::join(tensor.shape, ","), tensor.dtype);
}

std::string inputs_text(const jobs::Task& task) {
  std::string text = "Inputs (the kernel's positional arguments, in this order):\n";
  for (const jobs::TensorSpec& input : task.inputs) {
    text += fmt::format("- {}{}\n", tensor_line(input.name, input),
                        input.role == "input" ? "" : fmt::format(" ({})", input.role));
  }
  text += "Outputs (in the order of forward()):\n";
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    const jobs::TensorSpec& output = task.outputs[i];
    text += fmt::format("- {}\n", tensor_line(output.name.empty() ? fmt::format("output{}", i) : output.name, output));
  }
  return text;
}

std::string constants_text(const jobs::Task& task) {
  if (task.constants.empty()) return "";
  std::string text = "Constants (not passed; write them out in the kernel):\n";
  for (const jobs::Constant& constant : task.constants)
    text += fmt::format("- {} = {}\n", constant.name, constant.value);
  return text + "\n";
}

constexpr std::string_view kEntryRule =
    "Write one Python file, at most 64 KiB. Its entry is the top-level function `kernel`, decorated with `@nki.jit`. "
    "It takes the\n"
    "inputs above as positional arguments and returns the output (a tuple when there are several): tensors made at the "
    "top level\n"
    "of the kernel with `nl.ndarray(shape, dtype=..., buffer=nl.shared_hbm)`, of exactly the shape and dtype listed, "
    "every element\n"
    "written. It runs as `kernel(*inputs)`, or as `kernel[GRID](*inputs)` if the file sets `GRID` to a tuple of 1 to 3 "
    "positive\n"
    "integers. Imports that exist: neuronxcc.nki, neuronxcc.nki.language, neuronxcc.nki.isa, neuronxcc.nki.typing,\n"
    "neuronxcc.nki.compiler, numpy, math, functools, itertools, typing. Inputs are immutable.\n"
    "The result must match the PyTorch module at atol = rtol = 1e-3.\n";

}  // namespace

std::vector<model::Message> first_messages(const jobs::Task& task, const jobs::PromptSpec& prompt,
                                           const jobs::ModeSpec& mode) {
  std::string text = fmt::format("Task: {}\n\nPyTorch module:\n```python\n{}```\n\n{}\n{}{}", task.id,
                                 without_notes(task.source), inputs_text(task), constants_text(task), kEntryRule);
  text += answer_text(mode);
  return {{model::Role::system, text_for(prompt, task), {}, "", false},
          {model::Role::user, std::move(text), {}, "", false}};
}

}  // namespace nkigrid::agent
