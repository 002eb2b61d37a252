#include "jobs/grid/cells.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "jobs/base/ids.hpp"
#include "jobs/base/text.hpp"
#include "jobs/grid/sections.hpp"

namespace nkigrid::jobs {
namespace {

/// What one entry of `cells` adds to each cell of its product.
struct Entry {
  std::vector<std::string> models, modes, prompts;
  std::optional<TaskChoice> tasks;
  std::uint32_t replicates = 1;
  Budget budget;
  Place place;
};

template <class Spec>
std::vector<std::string> names_of(const std::vector<Spec>& specs) {
  std::vector<std::string> names;
  for (const auto& spec : specs) names.push_back(spec.name);
  return names;
}

/// One list of an entry's product: names that the grid defines, each once.
std::vector<std::string> read_names(Fields& fields, std::string_view key, const std::vector<std::string>& defined) {
  std::vector<std::string> names;
  const auto* node = fields.require(key);
  if (node == nullptr) return names;
  for (const auto& [name, place] : read_texts(*node, fields.path_of(key), fields.problems())) {
    if (defined.empty()) continue;  // the section itself is reported
    if (std::find(defined.begin(), defined.end(), name) == defined.end()) {
      fields.problems().add(place, fmt::format("no {} '{}' in this grid{}", key, name, did_you_mean(name, defined)));
    } else if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

bool same(const Budget& a, const Budget& b) { return a.usd == b.usd && a.tokens == b.tokens && a.wall == b.wall; }

/// Unites cells of one id: all their tasks, the larger replicates.
class CellUnion {
 public:
  CellUnion(const Benchmark* benchmark, Grid& grid, Problems& problems)
      : benchmark_(benchmark), grid_(grid), problems_(problems) {}

  void add(const Entry& entry) {
    for (const auto& model : entry.models) {
      for (const auto& mode : entry.modes) {
        for (const auto& prompt : entry.prompts) add_cell(model, mode, prompt, entry);
      }
    }
  }

 private:
  void add_cell(const std::string& model, const std::string& mode, const std::string& prompt, const Entry& entry) {
    CellSpec cell{
        fmt::format("{}.{}.{}", model, mode, prompt), model, mode, prompt, {}, {}, entry.replicates, entry.budget};
    if (entry.tasks) {
      cell.subset = entry.tasks->subset;
      cell.tasks = entry.tasks->ids;
    }
    const auto [at, is_new] = index_.emplace(cell.id, grid_.cells.size());
    if (is_new) {
      grid_.cells.push_back(std::move(cell));
    } else {
      unite(grid_.cells[at->second], cell, entry.place);
    }
  }

  void unite(CellSpec& into, const CellSpec& from, Place place) {
    std::vector<std::string> all;
    std::set_union(into.tasks.begin(), into.tasks.end(), from.tasks.begin(), from.tasks.end(), std::back_inserter(all));
    // A name stays true only when the union is what it names, as when nkigen-60 joins nkigen-150.
    std::string subset;
    for (const auto& name : {into.subset, from.subset}) {
      if (benchmark_ != nullptr && !name.empty() && sorted_subset(name) == all) subset = name;
    }
    into.subset = subset;
    into.tasks = std::move(all);
    into.replicates = std::max(into.replicates, from.replicates);
    if (same(into.budget, Budget{})) into.budget = from.budget;
    if (!same(from.budget, Budget{}) && !same(into.budget, from.budget)) {
      problems_.add(place, fmt::format("cell {} has two different budgets; give one", into.id));
    }
  }

  std::vector<std::string> sorted_subset(const std::string& name) const {
    auto ids = benchmark_->subsets.at(name);
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  const Benchmark* benchmark_;
  Grid& grid_;
  Problems& problems_;
  std::map<std::string, std::size_t> index_;
};

}  // namespace

void read_cells(const YamlNode& node, const Benchmark* benchmark, const std::optional<TaskChoice>& tasks,
                bool has_tasks, Grid& grid, Problems& problems) {
  const auto models = names_of(grid.models);
  const auto modes = names_of(grid.modes);
  const auto prompts = names_of(grid.prompts);
  CellUnion cells(benchmark, grid, problems);
  if (node.kind != YamlNode::Kind::list || node.items.empty()) {
    problems.add(
        node.place,
        fmt::format("cells is {} (a list of products is wanted); write e.g. - {{model: M, mode: O, prompt: P}}",
                    node.kind == YamlNode::Kind::list ? "an empty list" : describe(node)));
    return;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    Entry entry;
    entry.place = node.items[i].place;
    Fields fields(node.items[i], fmt::format("cells[{}]", i), problems);
    entry.models = read_names(fields, "model", models);
    entry.modes = read_names(fields, "mode", modes);
    entry.prompts = read_names(fields, "prompt", prompts);
    entry.tasks = tasks;
    if (const auto* own = fields.find("tasks")) {
      entry.tasks =
          benchmark == nullptr ? std::nullopt : read_tasks(*own, fields.path_of("tasks"), *benchmark, problems);
    } else if (!has_tasks && node.items[i].kind == YamlNode::Kind::map) {
      problems.add(entry.place, fmt::format("cells[{}] has no tasks, and neither has the grid", i));
    }
    entry.replicates = fields.integer("replicates", grid.replicates, 1, 1'000'000);
    if (const auto* budget = fields.find("budget"))
      entry.budget = read_budget(*budget, fields.path_of("budget"), problems);
    fields.finish();
    cells.add(entry);
  }
}

}  // namespace nkigrid::jobs
