#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/benchmark.hpp"
#include "jobs/grid/apis.hpp"
#include "jobs/grid/device.hpp"
#include "jobs/grid/modes.hpp"
#include "jobs/grid/prices.hpp"
#include "jobs/grid/problems.hpp"
#include "jobs/grid/prompts.hpp"
#include "jobs/grid/slurm_spec.hpp"

namespace nkigrid::jobs {

struct Budget {
  std::optional<double> usd;
  std::optional<std::uint64_t> tokens;
  std::optional<Seconds> wall;
};

struct ModelSpec {
  std::string name;
  ModelApi api;
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<std::uint32_t> max_tokens;
  bool call_recovery = true;      ///< recover tool calls that a server left in the text
  std::uint32_t concurrency = 0;  ///< requests in flight at the endpoint, all ranks together; 0: no limit
  Seconds request_timeout{600};
  Seconds retry_limit{900};  ///< longest total wait for one reply's retries
  std::optional<Price> price;
  std::optional<std::string> method;
  Budget budget;
};

struct CheckSpec {
  double atol = 1e-3;
  double rtol = 1e-3;
  std::uint32_t trials = 5;
  std::uint32_t tool_trials = 3;
  Seconds compile_timeout{120};
  Seconds run_timeout{60};
  bool strict_sandbox = true;
};

/// One row of the paper's Table 3.
struct CellSpec {
  std::string id;  ///< model.mode.prompt
  std::string model, mode, prompt;
  std::string subset;              ///< the named subset, or empty
  std::vector<std::string> tasks;  ///< resolved ids, sorted
  std::uint32_t replicates = 1;
  Budget budget;
};

struct Contrast {
  std::string name;
  std::map<std::string, std::string> a, b;  ///< factor (model, mode, prompt) -> value
  std::vector<std::string> scope;           ///< all, L1, L2, L3, category:NAME
};

/// A validated grid with every default filled in. Const after load_grid().
struct Grid {
  std::string name;
  std::filesystem::path file;  ///< where it was read from
  BenchmarkPlace benchmark;
  std::string tasks;  ///< the subset's name, or empty when ids and globs were given
  std::uint32_t replicates = 1;
  std::uint64_t seed = 20260705;
  DeviceSpec device;
  CheckSpec check;
  std::uint32_t infra_retries = 5;
  std::uint32_t lanes = 0;         ///< 0: auto
  bool share_transcripts = false;  ///< whoever the umask lets may read RUN/log; else its owner alone
  std::vector<ModelSpec> models;   ///< in file order
  std::vector<ModeSpec> modes;
  std::vector<PromptSpec> prompts;
  std::vector<CellSpec> cells;  ///< united, in order of first appearance
  std::vector<Contrast> contrasts;
  /// The 2x2 of `factors`: name -> {model, mode or prompt -> its two values}, e.g. tools -> {mode -> [ss, agent]}.
  /// Empty: none.
  std::map<std::string, std::map<std::string, std::vector<std::string>>> factors;
  Budget budget;
  SlurmSpec slurm;

  const ModelSpec& model(std::string_view name) const;  ///< @throws Error{internal} when absent
  const ModeSpec& mode(std::string_view name) const;
  const PromptSpec& prompt(std::string_view name) const;
};

struct GridResult {
  std::optional<Grid> grid;       ///< absent when there are problems
  std::vector<Problem> problems;  ///< all of them, in file order
};

/// How a grid is read beyond its file.
struct GridReading {
  TaskPoser poser = {};                ///< as load_benchmark() has it
  std::vector<std::string> sets = {};  ///< what the command line sets, "models.qwen.temperature=0.2"
  std::string day = {};                ///< whose prices hold, YYYY-MM-DD; "": today's
};

/// Reads and validates a grid file: unknown and duplicate keys, wrong types and units, names, missing files and tasks,
/// empty products; every problem is reported at once. Relative paths: to the file's folder, then to `configs`.
/// @param file where there is none, that of this name under `configs`
/// @param configs folder that holds the benchmarks, prompts and profiles which the project ships, and its grids
/// @throws Error{io} only when the file itself cannot be read.
GridResult read_grid(const std::filesystem::path& file, const std::filesystem::path& configs,
                     const GridReading& reading = {});

/// As read_grid(), but @throws Error{config} with all problems in its text.
Grid load_grid(const std::filesystem::path& file, const std::filesystem::path& configs,
               const GridReading& reading = {});

/// The grid as YAML with every default written out; what RUN/grid.yaml holds. load_grid() reads it back equal.
std::string to_yaml(const Grid& grid);

/// Where `configs/` is: $NKIGRID_CONFIGS, else beside the binary's build or install prefix.
std::filesystem::path configs_folder();

}  // namespace nkigrid::jobs
