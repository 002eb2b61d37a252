#pragma once

#include <string>
#include <vector>

#include "jobs/benchmark.hpp"

namespace nkigrid::cli {

/// A kernel that does none of its task's work; a sound task rejects it.
struct TrivialKernel {
  std::string what;    ///< "zeros", "ones", "a copy of x"
  std::string source;  ///< the whole Python file
};

/// Kernels that store zeros, store ones, and copy each input that has the shape and dtype of every output.
std::vector<TrivialKernel> trivial_kernels(const jobs::Task& task);

}  // namespace nkigrid::cli
