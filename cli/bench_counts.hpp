#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/bench_proof.hpp"
#include "jobs/benchmark.hpp"

namespace nkigrid::cli {

constexpr std::size_t kManyValues = 16;  ///< distinct values from which integers are more than a mask

/// What tasks of a level have in common: how many of them there are of each kind.
struct KindCounts {
  std::size_t tasks = 0, known_kernels = 0;
  std::map<std::size_t, std::size_t> ranks;  ///< axes of the first input -> tasks
  std::size_t ragged = 0;                    ///< by their tag: some axis has whole tiles of 128 and a rest
  std::size_t bfloat16 = 0;                  ///< an input or output of it
  std::size_t integers = 0;                  ///< an input or output of at least kManyValues whole numbers
};

/// @returns {level: its counts} of the tasks that were proved
std::map<std::string, KindCounts> kinds_of(const jobs::Benchmark& benchmark, const std::vector<TaskProof>& proofs);

/// The same over all levels.
KindCounts sum_of(const std::map<std::string, KindCounts>& levels);

/// "100 tasks, 100 with a known kernel; inputs of 2 axes 58, ...; 51 ragged, ..."
std::string kinds_text(const KindCounts& counts);

}  // namespace nkigrid::cli
