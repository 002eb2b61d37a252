#pragma once

#include <span>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"

namespace nkigrid::device {

/// What is wrong with the outputs of an artifact as its task sees them, in words for the model; "" when they fit. One
/// that does not fit must not run: the memory is made for the task's.
/// @param made names are not looked at; dtype "": of a type that no task has
std::string output_fault(std::span<const jobs::TensorSpec> made, const jobs::Task& task);

/// "[128, 64] float32".
std::string words_of(const jobs::TensorSpec& tensor);

}  // namespace nkigrid::device
