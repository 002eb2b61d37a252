#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/device/device.hpp"

/// What `bench check` and `bench add` demand of a task (docs/decisions/benchmark.md).
namespace nkigrid::cli {

/// What was found of one task.
struct TaskProof {
  std::string id;
  std::vector<std::string> faults;             ///< in words; empty: the task is proved
  std::vector<std::string> notes;              ///< what is shown and is no fault
  std::map<std::string, std::uint64_t> tried;  ///< kind of cheap answer -> how many failed, as they must, or did not
  bool known_kernel = false;                   ///< there is one
  std::size_t integer_values = 0;              ///< the most distinct values of an integer input or output in a trial
  double reference_s = 0;                      ///< of a processor, the slowest trial
  double kernel_s = 0;                         ///< compiling and judging the known kernel, of the clock
  double estimate_us = 0;                      ///< of the known kernel; 0: none, or refused as evidence
  double roofline_us = 0;                      ///< no kernel is faster
};

/// The least time [us] that a task's arguments and results take through HBM, each moved once.
double hbm_floor_us(const jobs::Task& task);

/// What the benchmark says of a task's roofline [us], else hbm_floor_us().
double roofline_us_of(const jobs::Benchmark& benchmark, const jobs::Task& task);

/// Proves tasks of a benchmark against torch, in one process of the helper: index, and that cheap answers fail.
/// @returns one proof a task, in order @throws Error{external} when the helper fails @threads safe
std::vector<TaskProof> prove_against_torch(const jobs::Benchmark& benchmark,
                                           const std::vector<const jobs::Task*>& tasks, const jobs::CheckSpec& check,
                                           const std::filesystem::path& libexec);

/// Adds what a device finds: the known kernel passes both rules, trivial kernels run and are wrong.
/// @param known the known kernel, or "" @threads safe
void prove_on_device(const jobs::Task& task, const std::string& known, device::Device& device, std::uint32_t trials,
                     TaskProof& proof);

}  // namespace nkigrid::cli
