#include "jobs/grid/read.hpp"

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/grid/cells.hpp"
#include "jobs/grid/contrasts.hpp"
#include "jobs/grid/models.hpp"
#include "jobs/grid/modes.hpp"
#include "jobs/grid/overlay.hpp"
#include "jobs/grid/prices.hpp"
#include "jobs/grid/sections.hpp"
#include "jobs/grid/tasks.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMaxEpisodes = 10'000'000;

/// "; write 'qwen2_5'" for what is a name but for single characters, else "".
std::string legal_name(std::string name) {
  std::erase_if(name, [](char c) { return c == '<' || c == '>'; });
  for (auto& c : name) {
    if (!is_name(std::string_view(&c, 1)) && c != '-' && c != '_') c = '_';
  }
  return is_name(name) ? fmt::format("; write '{}'", name) : std::string();
}

/// A section that maps names to things: a map with at least one name, each well formed. @returns null when it
/// is none
const YamlNode* require_names(Fields& fields, std::string_view key, bool files = false) {
  auto& problems = fields.problems();
  const auto* node = fields.require(key);
  if (node == nullptr) return nullptr;
  if (node->kind != YamlNode::Kind::map || node->items.empty()) {
    problems.add(node->place, fmt::format("{} is {} (a map from names to {} is wanted)", key,
                                          node->kind == YamlNode::Kind::map ? "an empty map" : describe(*node),
                                          files ? "files" : "settings"));
    return nullptr;
  }
  for (const auto& item : node->items) {
    if (!is_name(item.key)) {
      problems.add(item.key_place,
                   fmt::format("bad name '{}' in {} (a letter or digit, then letters, digits, _ and -, at most 40){}",
                               item.key, key, legal_name(item.key)));
    }
  }
  return node;
}

/// A grid's name stands in job names, tables and paths.
void read_name(Fields& fields, const fs::path& file, Grid& grid) {
  grid.name = fields.text("name", file.stem().native());
  const bool is_printable = grid.name.find_first_of("/\n\r\t") == std::string::npos;
  if (const auto* node = fields.find("name");
      node != nullptr &&
      (grid.name.empty() || grid.name == "." || grid.name == ".." || grid.name.size() > 100 || !is_printable)) {
    fields.problems().add(
        node->place,
        fmt::format("name is {} (1 to 100 characters without / or line breaks are wanted)", describe(*node)));
  }
}

void read_scalars(Fields& fields, const fs::path& file, Grid& grid) {
  read_name(fields, file, grid);
  grid.replicates = fields.integer("replicates", grid.replicates, 1, 1'000'000);
  grid.seed = fields.integer64("seed", grid.seed);
  grid.infra_retries = fields.integer("infra_retries", grid.infra_retries, 0, 1000);
  grid.share_transcripts = fields.flag("share_transcripts", grid.share_transcripts);
  if (const auto* lanes = fields.find("lanes"); lanes != nullptr && lanes->text != "auto")
    grid.lanes = fields.integer("lanes", 0, 1, 4096);
}

/// The table that `prices` names; nothing where none is named, or is not right.
std::optional<std::vector<DatedPrice>> read_price_file(const YamlNode& node, const std::string& name,
                                                       const Folders& all, Problems& problems) {
  const auto folders = all.of(node.place);
  const auto file = folders.find(name);
  if (!file) {
    problems.add(node.place, fmt::format("no price table '{}'{}{}", name, folders.near(name), folders.looked_in()));
    return std::nullopt;
  }
  Problems inside(file->native());
  std::vector<DatedPrice> table;
  try {
    table = read_price_table(*file, inside);
  } catch (const Error& error) {
    problems.add(node.place, error.what());
    return std::nullopt;
  }
  for (const auto& problem : inside.sorted())
    problems.add(node.place, fmt::format("in '{}', line {}: {}", file->native(), problem.line, problem.message));
  return inside.empty() ? std::optional(std::move(table)) : std::nullopt;
}

/// Gives the models without a price of their own what holds on the day.
void read_prices(Fields& fields, const Folders& folders, const std::string& day, Grid& grid) {
  const auto* node = fields.find("prices");
  const auto name = fields.text("prices", "");
  if (node == nullptr || node->kind != YamlNode::Kind::scalar) return;
  const auto table = read_price_file(*node, name, folders, fields.problems());
  if (!table) return;
  for (auto& model : grid.models) {
    if (model.price || !has_endpoint(model.api)) continue;
    if (const auto* price = price_on(*table, model.api, day))
      model.price = *price;
    else
      fields.problems().add(node->place,
                            fmt::format("models.{}: no price of '{}' (api {}) on {} in '{}'; add a row "
                                        "(docs/formats/prices.md), or a price to the model",
                                        model.name, remote_of(model.api)->model, name_of(model.api), day, name));
  }
}

/// Only the simulator's programs can be looked into.
void check_profiles(Fields& fields, const Grid& grid) {
  if (std::holds_alternative<SimSpec>(grid.device.backend)) return;
  for (const auto& mode : grid.modes) {
    if (mode.tools.offers(Tool::profile))
      fields.problems().add(fields.find("modes")->place,
                            fmt::format("modes.{}.tools.offer names profile_kernel (backend {} estimates nothing); "
                                        "leave it out, or take backend sim",
                                        mode.name, name_of(grid.device.backend)));
  }
}

void read_sections(Fields& fields, const Folders& folders, Grid& grid) {
  auto& problems = fields.problems();
  if (const auto* node = fields.find("device")) grid.device = read_device(*node, folders, problems);
  if (const auto* node = fields.find("check")) grid.check = read_check(*node, problems);
  if (const auto* node = require_names(fields, "models")) grid.models = read_models(*node, folders, problems);
  if (const auto* node = require_names(fields, "modes")) grid.modes = read_modes(*node, folders, problems);
  if (const auto* node = require_names(fields, "prompts", true)) grid.prompts = read_prompts(*node, folders, problems);
  if (const auto* node = fields.find("budget")) grid.budget = read_budget(*node, "budget", problems);
  if (const auto* node = fields.find("slurm")) grid.slurm = read_slurm(*node, problems);
  check_profiles(fields, grid);
}

void check_size(const Grid& grid, const YamlNode& cells, Problems& problems) {
  std::uint64_t episodes = 0;
  for (const auto& cell : grid.cells) episodes += std::uint64_t{cell.tasks.size()} * cell.replicates;
  if (episodes > kMaxEpisodes) {
    problems.add(cells.place, fmt::format("the grid has {} episodes (at most {}); split it into several runs", episodes,
                                          kMaxEpisodes));
  }
}

/// Cells, then what refers to cells.
void read_product(Fields& fields, const Benchmark* benchmark, Grid& grid) {
  auto& problems = fields.problems();
  const auto before = problems.size();
  std::optional<TaskChoice> tasks;
  const auto* own = fields.find("tasks");
  if (own != nullptr && benchmark != nullptr) tasks = read_tasks(*own, "tasks", *benchmark, problems);
  if (tasks) grid.tasks = tasks->subset;
  const auto* cells = fields.require("cells");
  const auto* contrasts = fields.find("contrasts");
  const auto* factors = fields.find("factors");
  if (cells == nullptr) return;
  read_cells(*cells, benchmark, tasks, own != nullptr, grid, problems);
  check_size(grid, *cells, problems);
  const bool named = !grid.models.empty() && !grid.modes.empty() && !grid.prompts.empty();
  const bool cells_known = benchmark != nullptr && named && problems.size() == before;
  grid.contrasts = contrasts != nullptr ? read_contrasts(*contrasts, grid, cells_known ? benchmark : nullptr, problems)
                                        : default_contrasts(grid);
  if (factors != nullptr) grid.factors = read_factors(*factors, grid, cells_known, problems);
}

/// The names that the frozen form, which spells tasks out, keeps beside them.
void restore_subsets(const Resolved& resolved, Grid& grid) {
  grid.tasks = resolved.subset;
  for (auto& cell : grid.cells) {
    const auto at = resolved.cell_subsets.find(cell.id);
    cell.subset = at == resolved.cell_subsets.end() ? "" : at->second;
  }
}

}  // namespace

GridFile read_grid_file(const fs::path& named, const fs::path& configs, const GridReading& reading) {
  // A grid that the project ships is known by its name wherever one stands.
  std::error_code ignored;
  const bool is_shipped = !fs::exists(named, ignored) && named.is_relative() && !configs.empty() &&
                          fs::is_regular_file(configs / named, ignored);
  const auto file = is_shipped ? (configs / named).lexically_normal() : named;
  GridFile result;
  Problems problems(file.native());
  const auto folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  Folders folders{folder, configs};
  const auto tree = read_layers(file, folders, reading.sets, problems);
  if (tree) {
    Grid grid;
    grid.file = file;
    Fields fields(*tree, "", problems);
    if (const auto* node = fields.find("resolved")) {
      result.resolved = read_resolved(*node, problems);
      folders = {folder / "inputs", {}};
    }
    read_scalars(fields, file, grid);
    if (const auto* node = fields.require("benchmark"))
      result.benchmark = read_benchmark(*node, folders, reading.poser, problems);
    if (result.benchmark) grid.benchmark = result.benchmark->place;
    read_sections(fields, folders, grid);
    read_prices(fields, folders, reading.day.empty() ? today() : reading.day, grid);
    read_product(fields, result.benchmark ? &*result.benchmark : nullptr, grid);
    fields.finish();
    if (result.resolved) restore_subsets(*result.resolved, grid);
    result.grid = std::move(grid);
  }
  result.problems = problems.sorted();
  if (!result.problems.empty()) result.grid.reset();
  return result;
}

GridResult read_grid(const fs::path& file, const fs::path& configs, const GridReading& reading) {
  auto read = read_grid_file(file, configs, reading);
  return {std::move(read.grid), std::move(read.problems)};
}

Grid load_grid(const fs::path& file, const fs::path& configs, const GridReading& reading) {
  auto result = read_grid(file, configs, reading);
  if (!result.grid) throw Error(ErrorCode::config, to_text(result.problems));
  return std::move(*result.grid);
}

}  // namespace nkigrid::jobs
