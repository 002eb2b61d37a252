#include "jobs/run_difference.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/hash.hpp"
#include "jobs/base/text.hpp"
#include "jobs/keys.hpp"

namespace nkigrid::jobs {
namespace {

/// A hash says only that something changed; other values are shown.
std::string shown_change(const std::string& was, const std::string& now) {
  const bool is_hash = was.size() == 64 || now.size() == 64;
  if (is_hash) return "another content";
  const auto word = [](const std::string& value) {
    return value.empty() ? std::string("(none)") : fmt::format("'{}'", elide_middle(value, 100));
  };
  return fmt::format("{} in the run, {} in the grid", word(was), word(now));
}

std::string kernel_hash(const PlannedGrid& side, const CellSpec& cell, const std::string& task) {
  return needs_known_kernels(side.grid.model(cell.model).api) ? sha256_hex(side.benchmark.known_kernel(task))
                                                              : std::string();
}

std::vector<KeyField> all_fields(const PlannedGrid& side, const CellSpec& cell, const std::string& task) {
  auto fields = cell_key_fields(side.grid, cell);
  const auto of_task = task_key_fields(*side.benchmark.find(task), kernel_hash(side, cell, task));
  fields.insert(fields.end(), of_task.begin(), of_task.end());
  return fields;
}

/// The fields behind differing keys, each once, in the order found.
class FieldDifferences {
 public:
  void add(const std::vector<KeyField>& was, const std::vector<KeyField>& now) {
    // Fields are matched by name: another backend has others, and another number of them.
    for (const auto& field : was) compare(field.name, field.value, value_of(field.name, now));
    for (const auto& field : now) compare(field.name, value_of(field.name, was), field.value);
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  static std::string value_of(std::string_view name, const std::vector<KeyField>& fields) {
    const auto at = std::find_if(fields.begin(), fields.end(), [&](const KeyField& f) { return f.name == name; });
    return at == fields.end() ? std::string() : at->value;
  }

  void compare(std::string_view name, const std::string& was, const std::string& now) {
    if (was == now) return;
    auto line = fmt::format("{}: {}", name, shown_change(was, now));
    if (std::find(lines_.begin(), lines_.end(), line) == lines_.end()) lines_.push_back(std::move(line));
  }

  std::vector<std::string> lines_;
};

/// "cell a is", "cells a, b, c are", "cells a, b, c and 17 more are": a line, however many.
std::string some_of(const std::string& one, const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  const auto shown = std::min(kShown, names.size());
  auto text = fmt::format("{}{} {}", one, names.size() == 1 ? "" : "s",
                          fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text + (names.size() == 1 ? " is" : " are");
}

std::map<std::string, std::uint32_t> cell_indices(const Plan& plan) {
  std::map<std::string, std::uint32_t> indices;
  for (std::uint32_t i = 0; i < plan.cells.size(); ++i) indices.emplace(plan.cells[i].id, i);
  return indices;
}

std::map<std::string, std::uint32_t> task_indices(const Plan& plan) {
  std::map<std::string, std::uint32_t> indices;
  for (std::uint32_t i = 0; i < plan.tasks.size(); ++i) indices.emplace(plan.tasks[i].id, i);
  return indices;
}

}  // namespace

std::vector<std::string> growth_faults(const PlannedGrid& was, const PlannedGrid& now) {
  std::vector<std::string> faults;
  if (was.grid.seed != now.grid.seed)
    faults.push_back(fmt::format("seed: {} in the run, {} in the grid", was.grid.seed, now.grid.seed));
  const auto cells = cell_indices(now.plan);
  const auto tasks = task_indices(now.plan);
  FieldDifferences differences;
  std::size_t changed = 0;
  std::vector<std::string> lost_cells;
  for (std::uint32_t i = 0; i < was.plan.cells.size(); ++i) {
    const auto& cell = was.plan.cells[i];
    const auto at = cells.find(cell.id);
    if (at == cells.end()) {
      lost_cells.push_back(cell.id);
      continue;
    }
    const auto& new_cell = now.plan.cells[at->second];
    if (new_cell.replicates < cell.replicates) {
      faults.push_back(fmt::format("cell {}: {} replicates in the run, {} in the grid", cell.id, cell.replicates,
                                   new_cell.replicates));
    }
    std::vector<std::string> lost_tasks;
    for (std::uint32_t task = 0; task < was.plan.tasks.size(); ++task) {
      const auto& key = was.plan.key(i, task);
      if (key.empty()) continue;
      const auto& id = was.plan.tasks[task].id;
      const auto new_task = tasks.find(id);
      if (new_task == tasks.end() || now.plan.key(at->second, new_task->second).empty()) {
        lost_tasks.push_back(id);
      } else if (now.plan.key(at->second, new_task->second) != key) {
        ++changed;
        differences.add(all_fields(was, cell, id), all_fields(now, new_cell, id));
      }
    }
    if (!lost_tasks.empty())
      faults.push_back(
          fmt::format("{} in cell {} of the run and not of the grid", some_of("task", lost_tasks), cell.id));
  }
  if (!lost_cells.empty())
    faults.push_back(fmt::format("{} in the run and not in the grid", some_of("cell", lost_cells)));
  for (const auto& line : differences.lines()) faults.push_back(line);
  if (changed != 0) faults.push_back(fmt::format("{} (cell, task) pairs have another key through this", changed));
  return faults;
}

}  // namespace nkigrid::jobs
