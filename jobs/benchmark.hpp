#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Where a benchmark lies, and in which of the formats there are.
struct BenchmarkPlace {
  std::filesystem::path folder;
  std::string format = "nkigrid";  ///< benchmark_formats()
  bool operator==(const BenchmarkPlace&) const = default;
};

/// Tasks, however they lie on the disk (docs/formats/benchmark.md). kernels/<id>.py of the folder, where there is one,
/// is a task's known kernel: hand-written NKI, the synthetic model's source.
struct Benchmark {
  std::string name;
  BenchmarkPlace place;                                     ///< its folder absolute
  std::vector<Task> tasks;                                  ///< sorted by id
  std::map<std::string, std::vector<std::string>> subsets;  ///< name -> task ids

  const Task* find(std::string_view id) const noexcept;  ///< null when absent
  /// The known kernel of a task, or "" when there is none.
  std::string known_kernel(std::string_view id) const;
};

/// @throws Error{config} naming file, key and what is wrong; Error{io} when a file is missing.
Benchmark load_benchmark(const BenchmarkPlace& place);

/// The first of the folders that holds a benchmark, with its format by what lies in it; nothing when none does.
std::optional<BenchmarkPlace> find_benchmark(std::span<const std::filesystem::path> folders);
/// What find_benchmark() looks for in a folder, for messages: "index.json or ...".
std::string benchmark_markers();
std::vector<std::string> benchmark_format_names();

}  // namespace nkigrid::jobs
