#include "jobs/run_inputs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/json_depth.hpp"
#include "jobs/base/version.hpp"
#include "jobs/benchmark/nkigrid_index.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

/// The benchmark cut down to the plan's tasks and to the subsets that are still whole with them: a subset of which some
/// tasks were left out would lie about its name.
Benchmark planned_part(const Benchmark& benchmark, const Plan& plan) {
  Benchmark part;
  part.name = benchmark.name;
  for (const auto& task : plan.tasks) {
    part.tasks.push_back(*benchmark.find(task.id));
    if (const auto said = benchmark.about.find(task.id); said != benchmark.about.end()) part.about.insert(*said);
  }
  for (const auto& [name, ids] : benchmark.subsets) {
    const bool whole = std::all_of(ids.begin(), ids.end(), [&](const auto& id) { return part.find(id) != nullptr; });
    if (whole) part.subsets.emplace(name, ids);
  }
  return part;
}

/// By their path in RUN/inputs.
std::map<std::string, std::string> prompt_files(const PromptSpec& prompt) {
  if (prompt.parts.empty()) return {{fmt::format("prompts/{}.md", prompt.name), prompt.text}};
  std::map<std::string, std::string> files;
  for (const auto& part : prompt.parts) files[fmt::format("prompts/{}/{}", prompt.name, part.name)] = part.text;
  return files;
}

/// Bytes of a file, or nothing when there is none of that name.
std::optional<std::string> bytes_of(const fs::path& folder, const fs::path& name) {
  if (!has_foreign_file(folder, name)) return std::nullopt;
  return read_foreign_file(folder, name);
}

/// As write_file_atomic(), but durable only after sync(): a benchmark of many small files pays for its syncs
/// once, at the end.
void replace_file(const fs::path& path, std::string_view bytes) {
  const fs::path beside = path.native() + ".new";  // the run's lock is held: nobody else writes here
  Fd fd = open_own_file(beside, O_WRONLY | O_TRUNC);
  try {
    write_all(fd.get(), bytes, path);
    fd.close();
    if (::rename(beside.c_str(), path.c_str()) != 0) throw_errno(errno, "replace", path.native());
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
}

void sync_file(const fs::path& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw_errno(errno, "open", path.native());
  if (::fsync(fd.get()) != 0) throw_errno(errno, "sync", path.native());
}

json extent_json(const PlanExtent& extent) {
  json cells = json::array();
  for (const auto& cell : extent.cells)
    cells.push_back({{"id", cell.id}, {"replicates", cell.replicates}, {"tasks", cell.tasks}});
  return cells;
}

}  // namespace

std::map<std::string, std::string> input_files(const Grid& grid, const Benchmark& benchmark, const Plan& plan) {
  std::map<std::string, std::string> files;
  const auto part = planned_part(benchmark, plan);
  for (auto& [name, bytes] : own_format_files(part)) files["benchmark/" + name] = std::move(bytes);
  if (!part.about.empty()) files[kAboutInput] = about_text(part);
  const bool wants_kernels = std::any_of(grid.cells.begin(), grid.cells.end(), [&](const CellSpec& cell) {
    return needs_known_kernels(grid.model(cell.model).api);
  });
  // All of the grid's prompts and profiles: those that no cell uses yet are named in grid.yaml too.
  for (const auto& prompt : grid.prompts) files.merge(prompt_files(prompt));
  for (const auto& mode : grid.modes) {
    for (const auto& page : mode.tools.pages) files[fmt::format("docs/{}/{}", mode.name, page.name)] = page.text;
  }
  for (const auto& model : grid.models) {
    for (const auto& [name, file] : api_input_files(model.api)) files[name] = read_file(file);
  }
  for (const auto& task : wants_kernels ? plan.tasks : std::vector<PlannedTask>{}) {
    if (auto kernel = benchmark.known_kernel(task.id); !kernel.empty())
      files[fmt::format("benchmark/kernels/{}.py", task.id)] = std::move(kernel);
  }
  return files;
}

std::map<std::string, std::string> frozen_hashes(const Grid& grid, const std::map<std::string, std::string>& files) {
  std::set<std::string> used;
  for (const auto& cell : grid.cells) {
    for (const auto& [name, text] : prompt_files(grid.prompt(cell.prompt))) used.insert(name);
    for (const auto& page : grid.mode(cell.mode).tools.pages)
      used.insert(fmt::format("docs/{}/{}", cell.mode, page.name));
    for (const auto& [name, file] : api_input_files(grid.model(cell.model).api)) used.insert(name);
  }
  std::map<std::string, std::string> hashes;
  for (const auto& [name, bytes] : files) {
    const bool is_named = name.starts_with("prompts/") || name.starts_with("profiles/") || name.starts_with("docs/");
    if (name != kIndexInput && name != kAboutInput && (!is_named || used.count(name) != 0))
      hashes[name] = sha256_hex(bytes);
  }
  return hashes;
}

void write_inputs(const fs::path& folder, const std::map<std::string, std::string>& files) {
  std::set<fs::path> folders;
  std::vector<fs::path> written;
  for (const auto& [name, bytes] : files) {
    const auto path = folder / name;
    if (bytes_of(folder, name) == bytes) continue;
    make_directories(path.parent_path());
    replace_file(path, bytes);
    written.push_back(path);
    for (auto parent = path.parent_path(); parent != folder.parent_path(); parent = parent.parent_path())
      folders.insert(parent);
  }
  for (const auto& path : written) sync_file(path);
  for (const auto& path : folders) fsync_directory(path);
}

void verify_inputs(const fs::path& folder, const std::map<std::string, std::string>& hashes) {
  for (const auto& [name, hash] : hashes) {
    const auto bytes = bytes_of(folder, name);
    if (!bytes)
      throw Error(ErrorCode::corrupt, fmt::format("frozen input '{}' is missing; restore it, or freeze a new run",
                                                  (folder / name).native()));
    if (sha256_hex(*bytes) != hash) {
      throw Error(ErrorCode::corrupt, fmt::format("frozen input '{}' was changed after the freeze (its hash "
                                                  "differs); restore it, or freeze a new run",
                                                  (folder / name).native()));
    }
  }
}

std::string plan_to_json(const Plan& plan, const std::string& hash, const std::vector<PlanExtent>& grown_from) {
  json out = {{"format", "nkigrid-plan"}, {"version", 1},          {"nkigrid_version", kVersion},
              {"grid_hash", hash},        {"shards", plan.shards}, {"episodes", plan.episodes.size()}};
  for (const auto& task : plan.tasks)
    out["tasks"].push_back({{"id", task.id}, {"level", task.level}, {"category", task.category}});
  for (std::uint32_t i = 0; i < plan.cells.size(); ++i) {
    const auto& cell = plan.cells[i];
    json keys = json::object();
    for (std::uint32_t task = 0; task < plan.tasks.size(); ++task) {
      if (!plan.key(i, task).empty()) keys[plan.tasks[task].id] = plan.key(i, task);
    }
    out["cells"].push_back({{"id", cell.id},
                            {"model", cell.model},
                            {"mode", cell.mode},
                            {"prompt", cell.prompt},
                            {"subset", cell.subset},
                            {"replicates", cell.replicates},
                            {"keys", std::move(keys)}});
  }
  out["grown_from"] = json::array();
  for (const auto& extent : grown_from) out["grown_from"].push_back(extent_json(extent));
  return out.dump(1) + "\n";
}

std::vector<PlanExtent> extents_from_json(const std::string& text, const fs::path& file) {
  try {
    const auto document = json::parse(shallow_part(text));
    std::vector<PlanExtent> extents;
    for (const auto& cells : document.at("grown_from")) {
      PlanExtent& extent = extents.emplace_back();
      for (const auto& cell : cells) {
        extent.cells.push_back({cell.at("id").get<std::string>(), cell.at("tasks").get<std::vector<std::string>>(),
                                cell.at("replicates").get<std::uint32_t>()});
      }
    }
    return extents;
  } catch (const json::exception&) {
    throw Error(ErrorCode::corrupt,
                fmt::format("'{0}' is no plan, or missing; `run GRID -o {1}` (or `submit`) with its grid makes it anew",
                            file.native(), file.parent_path().parent_path().native()));
  }
}

void verify_plan_json(const std::string& text, const Plan& plan, const fs::path& file) {
  const auto document = json::parse(shallow_part(text));  // extents_from_json() has read it before
  std::map<std::string, const json*> cells;
  const json none = json::array();
  for (const auto& cell : document.contains("cells") ? document["cells"] : none) cells[cell.value("id", "")] = &cell;
  for (std::uint32_t cell = 0; cell < plan.cells.size(); ++cell) {
    const auto at = cells.find(plan.cells[cell].id);
    const json empty = json::object();
    const json& keys = at == cells.end() ? empty : at->second->at("keys");
    for (std::uint32_t task = 0; task < plan.tasks.size(); ++task) {
      if (plan.key(cell, task).empty() || keys.value(plan.tasks[task].id, "") == plan.key(cell, task)) continue;
      throw Error(
          ErrorCode::corrupt,
          fmt::format("'{}' has another key for {} {} than the frozen grid and inputs give; one of them was changed "
                      "after the freeze: restore it, or freeze a new run",
                      file.native(), plan.cells[cell].id, plan.tasks[task].id));
    }
  }
}

}  // namespace nkigrid::jobs
