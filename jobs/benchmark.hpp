#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/benchmark/poser.hpp"

namespace nkigrid::jobs {

/// One tensor that a kernel gets or gives. HBM, C-contiguous.
struct TensorSpec {
  std::string name;                 ///< dots become `_`
  std::vector<std::int64_t> shape;  ///< rank 0 is posed as (1,)
  std::string dtype;                ///< float32, bfloat16, int32, uint8 (as the kernel sees it)
  std::string role;                 ///< input, parameter or buffer; output for outputs
  std::string domain = "real";      ///< inputs: real, positive, unit, probability, index
  std::int64_t index_bound = 0;     ///< domain index: values in [0, index_bound)
};

struct Constant {
  std::string name, value;  ///< value as Python source
};

/// One benchmark problem in KernelBench form.
struct Task {
  std::string id;                   ///< L1/002_gelu
  std::string level;                ///< L1
  std::string category;             ///< elementwise, activation, ...
  std::string source;               ///< the PyTorch file, verbatim
  std::vector<TensorSpec> inputs;   ///< in the kernel's argument order: get_inputs(), parameters, floating buffers
  std::vector<TensorSpec> outputs;  ///< in forward()'s order
  std::vector<Constant> constants;  ///< not passed; the prompt lists them
  std::string hash;                 ///< SHA-256 (hex) of the source and the index entry
  std::string index_entry;          ///< our own format's JSON object for this task, canonical text
};

/// How many axes the first input has: what the tag `rank-N` says.
std::size_t rank_of(const Task& task) noexcept;

/// What people choose tasks by (about.json): no part of a task's hash, and a benchmark may have none.
struct TaskAbout {
  std::string title;
  std::string origin;             ///< kernelbench, decompose, nki-native; empty: not said
  std::vector<std::string> tags;  ///< sorted
  double flops = 0;               ///< of the reference
  double hbm_bytes = 0;           ///< arguments and results, each moved once
  double roofline_us = 0;         ///< what follows of both
};

/// A task that cannot be posed to NKI, and why.
struct RefusedTask {
  std::string id, why;
};

/// Where a benchmark lies, and in which of the formats there are.
struct BenchmarkPlace {
  std::filesystem::path folder;
  std::string format = "nkigrid";                         ///< benchmark_formats()
  std::uint64_t max_task_bytes = std::uint64_t{1} << 30;  ///< of a task that has to be posed: larger ones are refused
  bool operator==(const BenchmarkPlace&) const = default;
};

/// Tasks, however they lie on the disk (docs/formats/benchmark.md). kernels/<id>.py of the folder, where there is one,
/// is a task's known kernel: hand-written NKI, the synthetic model's source.
struct Benchmark {
  std::string name;
  BenchmarkPlace place;                                     ///< its folder absolute
  std::vector<Task> tasks;                                  ///< sorted by id
  std::map<std::string, std::vector<std::string>> subsets;  ///< name -> task ids
  std::map<std::string, TaskAbout> about;                   ///< task id -> what is said of it, where anything is
  std::vector<RefusedTask> refused;                         ///< of a format whose tasks are posed here

  const Task* find(std::string_view id) const noexcept;  ///< null when absent
  /// The known kernel of a task, or "" when there is none.
  std::string known_kernel(std::string_view id) const;
};

/// @param poser for a benchmark without an index. @throws Error{config} naming file, key and what is wrong, or that
/// there is no poser; Error{io} when a file is missing.
Benchmark load_benchmark(const BenchmarkPlace& place, const TaskPoser& poser = {});

/// The first of the folders that holds a benchmark, with its format by what lies in it; nothing when none does.
std::optional<BenchmarkPlace> find_benchmark(std::span<const std::filesystem::path> folders);
/// What find_benchmark() looks for in a folder, for messages: "index.json, tasks, ...".
std::string benchmark_markers();
std::vector<std::string> benchmark_format_names();

}  // namespace nkigrid::jobs
