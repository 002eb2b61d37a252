#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
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
  std::string id;                   ///< L1/012_gelu
  std::string level;                ///< L1
  std::string category;             ///< elementwise, activation, ...
  std::string source;               ///< the PyTorch file, verbatim
  std::vector<TensorSpec> inputs;   ///< in the kernel's argument order: get_inputs(), parameters, floating buffers
  std::vector<TensorSpec> outputs;  ///< in forward()'s order
  std::vector<Constant> constants;  ///< not passed; the prompt lists them
  std::string hash;                 ///< SHA-256 (hex) of the source and the index entry
  std::string index_entry;          ///< the index's JSON object for this task, canonical text
  std::filesystem::path file;       ///< absolute, in the benchmark's folder
};

/// A benchmark folder: index.json, tasks/<id>.py, kernels/<id>.py (hand-written NKI, the synthetic model's source),
/// see docs/formats/benchmark.md.
struct Benchmark {
  std::string name;
  std::filesystem::path folder;
  std::vector<Task> tasks;                                  ///< sorted by id
  std::map<std::string, std::vector<std::string>> subsets;  ///< name -> task ids

  const Task* find(std::string_view id) const noexcept;  ///< null when absent
  /// The known kernel of a task, or "" when there is none.
  std::string known_kernel(std::string_view id) const;
};

/// @throws Error{config} naming file, key and what is wrong; Error{io} when a file is missing.
Benchmark load_benchmark(const std::filesystem::path& folder);

}  // namespace nkigrid::jobs
