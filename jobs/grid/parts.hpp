#pragma once

// The readers of a grid file's parts; read_grid() puts them together. Each adds problems and reads on.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/folders.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {

/// What stands under `resolved:` in RUN/grid.yaml.
struct Resolved {
  std::uint32_t format = 1;
  std::string nkigrid_version, run_id, grid_hash;
  std::string secret_hash;  ///< SHA-256 of RUN/secret; "": none
  std::uint64_t seed = 0;
  std::string subset;                               ///< name behind the top-level `tasks`, or ""
  std::map<std::string, std::string> cell_subsets;  ///< cell id -> subset name
  std::map<std::string, std::string> inputs;        ///< path in RUN/inputs -> SHA-256 (hex)
};

Resolved read_resolved(const YamlNode& node, Problems& problems);

std::vector<ModelSpec> read_models(const YamlNode& node, const Folders& folders, Problems& problems);
std::vector<ModeSpec> read_modes(const YamlNode& node, Problems& problems);
std::vector<PromptSpec> read_prompts(const YamlNode& node, const Folders& folders, Problems& problems);
CheckSpec read_check(const YamlNode& node, Problems& problems);
SlurmSpec read_slurm(const YamlNode& node, Problems& problems);
Budget read_budget(const YamlNode& node, const std::string& path, Problems& problems);

/// The benchmark that `benchmark:` names, loaded; nothing when it has a problem.
std::optional<Benchmark> read_benchmark(const YamlNode& node, const Folders& folders, Problems& problems);

/// What a `tasks:` stands for.
struct TaskChoice {
  std::string subset;            ///< when a subset was named
  std::vector<std::string> ids;  ///< sorted, each once
};
/// @returns nothing when the choice has a problem
std::optional<TaskChoice> read_tasks(const YamlNode& node, std::string_view path, const Benchmark& benchmark,
                                     Problems& problems);

/// Fills grid.cells from the products of `cells:`. Models, modes and prompts are in `grid` already.
/// @param benchmark null when it could not be loaded: then tasks are not looked at
/// @param tasks the grid's own `tasks`, for entries that name none
void read_cells(const YamlNode& node, const Benchmark* benchmark, const std::optional<TaskChoice>& tasks,
                bool has_tasks, Grid& grid, Problems& problems);

/// What compares cells. @param benchmark of the cells; null where they, or what they are made of, have a problem: which
/// cells there are is then not known, and what names one is not judged by it (one mistake, one problem).
std::vector<Contrast> read_contrasts(const YamlNode& node, const Grid& grid, const Benchmark* benchmark,
                                     Problems& problems);
/// Each model and each mode that a cell uses against the first listed, others equal.
std::vector<Contrast> default_contrasts(const Grid& grid);
/// @param cells_known as the benchmark of read_contrasts()
std::map<std::string, std::map<std::string, std::vector<std::string>>> read_factors(const YamlNode& node,
                                                                                    const Grid& grid, bool cells_known,
                                                                                    Problems& problems);

/// A grid file as read, with what a frozen one holds beside the grid.
struct GridFile {
  std::optional<Grid> grid;
  std::optional<Resolved> resolved;
  std::optional<Benchmark> benchmark;
  std::vector<Problem> problems;
};
GridFile read_grid_file(const std::filesystem::path& file, const std::filesystem::path& configs);

/// The grid as YAML. With `resolved` the form of RUN/grid.yaml: tasks spelt out, paths relative to
/// RUN/inputs.
std::string to_yaml(const Grid& grid, const Resolved* resolved);

}  // namespace nkigrid::jobs
