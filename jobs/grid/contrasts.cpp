#include "jobs/grid/contrasts.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/core.h>

#include "jobs/base/text.hpp"

namespace nkigrid::jobs {
namespace {

using Factors = std::map<std::string, std::string>;
const std::vector<std::string> kDimensions = {"model", "mode", "prompt"};

const std::string& value_of(const CellSpec& cell, std::string_view dimension) {
  return dimension == "model" ? cell.model : dimension == "mode" ? cell.mode : cell.prompt;
}

/// The values of a dimension that some cell uses, in the order that the grid lists them.
std::vector<std::string> used_values(const Grid& grid, std::string_view dimension) {
  std::set<std::string> used;
  for (const auto& cell : grid.cells) used.insert(value_of(cell, dimension));
  std::vector<std::string> values;
  const auto keep = [&](const auto& specs) {
    for (const auto& spec : specs) {
      if (used.count(spec.name) != 0) values.push_back(spec.name);
    }
  };
  if (dimension == "model") keep(grid.models);
  if (dimension == "mode") keep(grid.modes);
  if (dimension == "prompt") keep(grid.prompts);
  return values;
}

bool matches(const CellSpec& cell, const Factors& side) {
  return std::all_of(side.begin(), side.end(),
                     [&](const auto& factor) { return value_of(cell, factor.first) == factor.second; });
}

Factors read_side(Fields& contrast, std::string_view key, const Grid& grid, bool cells_known) {
  Factors side;
  auto& problems = contrast.problems();
  const auto* node = contrast.require(key);
  if (node == nullptr) return side;
  const auto before = problems.size();
  Fields fields(*node, contrast.path_of(key), problems);
  for (const auto& dimension : kDimensions) {
    const auto* item = fields.find(dimension);
    if (item == nullptr) continue;
    side[dimension] = fields.text(dimension, "");
    const auto values = used_values(grid, dimension);
    if (cells_known && item->kind == YamlNode::Kind::scalar &&
        std::find(values.begin(), values.end(), side[dimension]) == values.end()) {
      problems.add(item->place, fmt::format("no cell has {} '{}'{}", dimension, side[dimension],
                                            did_you_mean(side[dimension], values)));
    }
  }
  fields.finish();
  const bool found =
      std::any_of(grid.cells.begin(), grid.cells.end(), [&](const CellSpec& cell) { return matches(cell, side); });
  if (problems.size() == before && side.empty())
    problems.add(node->place, fmt::format("{} names no model, mode or prompt", contrast.path_of(key)));
  if (problems.size() == before && cells_known && !found)
    problems.add(node->place, fmt::format("no cell matches {}", contrast.path_of(key)));
  return side;
}

/// The scopes that a contrast may name: all, and the levels and categories of the cells' tasks.
std::vector<std::string> scopes_of(const Grid& grid, const Benchmark& benchmark) {
  std::set<std::string> levels, categories;
  for (const auto& cell : grid.cells) {
    for (const auto& id : cell.tasks) {
      levels.insert(id.substr(0, id.find('/')));
      if (const auto* task = benchmark.find(id)) categories.insert(task->category);
    }
  }
  std::vector<std::string> scopes{"all"};
  scopes.insert(scopes.end(), levels.begin(), levels.end());
  for (const auto& category : categories) scopes.push_back("category:" + category);
  return scopes;
}

Contrast read_contrast(const YamlNode& node, std::size_t index, const Grid& grid, const Benchmark* benchmark,
                       Problems& problems) {
  const bool cells_known = benchmark != nullptr;
  Contrast contrast;
  Fields fields(node, fmt::format("contrasts[{}]", index), problems);
  fields.require("name");
  contrast.name = fields.text("name", "");
  contrast.a = read_side(fields, "a", grid, cells_known);
  contrast.b = read_side(fields, "b", grid, cells_known);
  if (!contrast.a.empty() && contrast.a == contrast.b)
    problems.add(node.place, fmt::format("contrasts[{}] compares a thing with itself", index));
  contrast.scope = {"all"};
  if (const auto* scope = fields.find("scope")) {
    contrast.scope.clear();
    const auto scopes = cells_known ? scopes_of(grid, *benchmark) : std::vector<std::string>{};
    for (const auto& [text, place] : read_texts(*scope, fields.path_of("scope"), problems)) {
      if (cells_known && std::find(scopes.begin(), scopes.end(), text) == scopes.end()) {
        problems.add(
            place, fmt::format("no scope '{}'{} (all, or a level that a cell's tasks have, or category:NAME of theirs)",
                               text, did_you_mean(text, scopes)));
      }
      contrast.scope.push_back(text);
    }
  }
  fields.finish();
  return contrast;
}

/// Which of model, mode and prompt has all these values; its own name decides when several have.
std::string dimension_of(const std::string& name, const std::vector<PlacedText>& values, const Grid& grid) {
  std::vector<std::string> fitting;
  for (const auto& dimension : kDimensions) {
    const auto used = used_values(grid, dimension);
    const bool all = std::all_of(values.begin(), values.end(), [&](const PlacedText& value) {
      return std::find(used.begin(), used.end(), value.text) != used.end();
    });
    if (all) fitting.push_back(dimension);
  }
  if (std::find(fitting.begin(), fitting.end(), name) != fitting.end()) return name;
  return fitting.size() == 1 ? fitting.front() : "";
}

}  // namespace

std::vector<Contrast> read_contrasts(const YamlNode& node, const Grid& grid, const Benchmark* benchmark,
                                     Problems& problems) {
  std::vector<Contrast> contrasts;
  if (node.kind != YamlNode::Kind::list) {
    problems.add(node.place, fmt::format("contrasts is {} (a list is wanted)", describe(node)));
    return contrasts;
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    contrasts.push_back(read_contrast(node.items[i], i, grid, benchmark, problems));
    if (!contrasts.back().name.empty() && !names.insert(contrasts.back().name).second) {
      problems.add(node.items[i].place,
                   fmt::format("two contrasts are named '{}'; name each apart", contrasts.back().name));
    }
  }
  return contrasts;
}

std::vector<Contrast> default_contrasts(const Grid& grid) {
  std::vector<Contrast> contrasts;
  for (const auto& dimension : kDimensions) {
    const auto values = used_values(grid, dimension);
    for (std::size_t i = 1; i < values.size(); ++i) {
      contrasts.push_back(
          {fmt::format("{}-vs-{}", values[i], values[0]), {{dimension, values[i]}}, {{dimension, values[0]}}, {"all"}});
    }
  }
  return contrasts;
}

std::map<std::string, std::map<std::string, std::vector<std::string>>> read_factors(const YamlNode& node,
                                                                                    const Grid& grid, bool cells_known,
                                                                                    Problems& problems) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> factors;
  if (node.kind != YamlNode::Kind::map || node.items.size() != 2) {
    problems.add(node.place,
                 "factors must name exactly two factors, e.g. {tools: [ss, agent], prompt: [naive, rank-aware]}");
    return factors;
  }
  std::string first;
  for (const auto& item : node.items) {
    const auto values = read_texts(item, fmt::format("factors.{}", item.key), problems);
    if (values.size() != 2 || values[0].text == values[1].text) {
      problems.add(item.place, fmt::format("factors.{} must list two different values", item.key));
      continue;
    }
    if (!cells_known) continue;
    const auto dimension = dimension_of(item.key, values, grid);
    if (dimension.empty() || dimension == first) {
      problems.add(item.place, fmt::format("factors.{}: '{}' and '{}' must be two models, two modes or two "
                                           "prompts of the cells, of another "
                                           "kind than the other factor's",
                                           item.key, values[0].text, values[1].text));
      continue;
    }
    first = dimension;
    factors[item.key][dimension] = {values[0].text, values[1].text};
  }
  return factors;
}

}  // namespace nkigrid::jobs
