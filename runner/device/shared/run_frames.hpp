#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "runner/device/shared/output_layout.hpp"
#include "runner/device/tensor_file.hpp"
#include "runner/device/values.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/shared_memory.hpp"

namespace nkigrid::device {

// What is said to a run child (docs/formats/child_protocol.md): both sides of it, so that they cannot differ.

/// The head of the first frame, whose body is the artifact and whose descriptor the outputs' memory.
std::string first_head(const OutputLayout& layout, std::size_t slots);
/// The memory that a first frame brings, on the child's side. @throws what a frame of another kind makes it throw
proc::Mapping outputs_of_first(const proc::Frame& frame);

/// What is asked of a child that has its artifact: a run into a slot, or one of the looks inside that only the
/// simulator's takes.
struct IntoSlot {
  std::size_t slot = 0;
};
struct Explain {};
struct CompareOrders {
  std::uint64_t seed = 0;
};
using RunQuestion = std::variant<IntoSlot, Explain, CompareOrders>;

/// The head of a run: the question, the poison, and where in the file, whose descriptor comes along, the arguments lie.
std::string run_head(const RunQuestion& question, const TensorFile& arguments, const Poison& poison);

/// A run on the child's side.
struct RunFrame {
  RunQuestion question;
  proc::Mapping file;
  std::vector<std::span<const std::byte>> inputs;  ///< in `file`
  Poison poison;
};
/// @throws what a frame of another kind makes it throw
RunFrame parse_run(const proc::Frame& frame);

}  // namespace nkigrid::device
