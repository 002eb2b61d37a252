#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "aggregate/evidence/counts.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/text.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::aggregate {
namespace {

using jobs::Fields, jobs::Problems, jobs::YamlNode;

std::string printed_of(Fields& fields, const char* key) {
  const auto* node = fields.find(key);
  if (!node || node->kind == YamlNode::Kind::null) return "";
  if (!jobs::read_number(*node, fields.path_of(key), -1e6, 1e6, fields.problems())) return "";
  return node->text;
}

std::uint64_t count_of(Fields& fields, const char* key) {
  const auto* node = fields.require(key);
  if (!node) return 0;
  return jobs::read_integer(*node, fields.path_of(key), 0, 1'000'000'000, fields.problems()).value_or(0);
}

std::map<std::string, PrintedLevel> read_levels(const YamlNode& node, const std::string& path, Problems& problems) {
  std::map<std::string, PrintedLevel> levels;
  if (node.kind != YamlNode::Kind::map) {
    problems.add(node.place, fmt::format("{} is {} (a map of level: [passed, n] is wanted)", path, describe(node)));
    return levels;
  }
  for (const auto& item : node.items) {
    const auto name = fmt::format("{}.{}", path, item.key);
    if (item.kind != YamlNode::Kind::list || item.items.size() != 2) {
      problems.add(item.place, fmt::format("{} is {} ([passed, n] is wanted)", name, describe(item)));
      continue;
    }
    const auto n = jobs::read_integer(item.items[1], name, 1, 1'000'000'000, problems);
    const auto passed = jobs::read_integer(item.items[0], name, 0, n.value_or(1'000'000'000), problems);
    if (n && passed) levels[item.key] = {*passed, *n, ""};
  }
  return levels;
}

PrintedCell read_cell(const YamlNode& node, std::size_t index, Problems& problems) {
  Fields fields(node, fmt::format("cells[{}]", index), problems);
  PrintedCell cell;
  fields.require("cell");
  cell.cell = fields.text("cell", "");
  cell.model = fields.text("model", "");
  cell.mode = fields.text("mode", "");
  cell.prompt = fields.text("prompt", "");
  cell.subset = fields.text("subset", "");
  cell.n = count_of(fields, "n");
  cell.passed = count_of(fields, "passed");
  cell.printed = printed_of(fields, "printed");
  if (const auto* levels = fields.find("levels"))
    cell.levels = read_levels(*levels, fields.path_of("levels"), problems);
  if (const auto* printed = fields.find("printed_levels"); printed && printed->kind == YamlNode::Kind::map) {
    for (const auto& item : printed->items) {
      if (const auto level = cell.levels.find(item.key); level != cell.levels.end())
        level->second.printed = item.text;
      else
        problems.add(item.place,
                     fmt::format("{}.{} is no level of this cell", fields.path_of("printed_levels"), item.key));
    }
  }
  fields.finish();
  if (cell.n == 0 || cell.passed > cell.n)
    problems.add(node.place,
                 fmt::format("cells[{}] has {} passes of {} (0..n of n > 0 is wanted)", index, cell.passed, cell.n));
  std::uint64_t n = 0, passed = 0;
  for (const auto& [name, level] : cell.levels) n += level.n, passed += level.passed;
  if (!cell.levels.empty() && (n != cell.n || passed != cell.passed)) {
    problems.add(node.place, fmt::format("cells[{}]: the levels add up to {}/{}, the cell says {}/{}", index, passed, n,
                                         cell.passed, cell.n));
  }
  return cell;
}

Claim read_claim(const YamlNode& node, std::size_t index, Problems& problems) {
  static const std::array<std::string, 3> kinds{"difference", "relative", "share"};
  Fields fields(node, fmt::format("claims[{}]", index), problems);
  for (const char* key : {"kind", "a", "b", "printed"}) fields.require(key);
  Claim claim{fields.text("where", ""),    fields.choice("kind", "difference", kinds),
              fields.text("a", ""),        fields.text("b", ""),
              fields.text("scope", "all"), printed_of(fields, "printed")};
  fields.finish();
  return claim;
}

template <class Read>
auto read_list(Fields& fields, const char* key, Read read) {
  std::vector<decltype(read(std::declval<const YamlNode&>(), 0))> list;
  const auto* node = fields.find(key);
  if (!node || node->kind == YamlNode::Kind::null) return list;
  if (node->kind != YamlNode::Kind::list)
    fields.problems().add(node->place, fmt::format("{} is {} (a list is wanted)", key, describe(*node)));
  for (std::size_t i = 0; node->kind == YamlNode::Kind::list && i < node->items.size(); ++i)
    list.push_back(read(node->items[i], i));
  return list;
}

void check_names(const PrintedCounts& counts, jobs::Place place, Problems& problems) {
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> names;
  for (const auto& cell : counts.cells) {
    if (!seen.insert({cell.cell, cell.subset}).second)
      problems.add(place, fmt::format("cell '{}' is listed twice for subset '{}'", cell.cell, cell.subset));
    names.insert(cell.cell);
  }
  for (const auto& claim : counts.claims) {
    for (const auto& name : {claim.a, claim.b}) {
      if (!names.contains(name))
        problems.add(place, fmt::format("a claim of '{}' names '{}', which is no cell of the file", claim.where, name));
    }
  }
}

}  // namespace

PrintedCounts read_counts(const std::filesystem::path& file) {
  Problems problems(file.string());
  PrintedCounts counts;
  if (const auto document = jobs::parse_yaml(read_file(file), problems)) {
    Fields fields(*document, "", problems);
    counts.name = fields.text("name", file.stem().string());
    fields.require("cells");
    counts.cells =
        read_list(fields, "cells", [&](const YamlNode& node, std::size_t i) { return read_cell(node, i, problems); });
    counts.claims =
        read_list(fields, "claims", [&](const YamlNode& node, std::size_t i) { return read_claim(node, i, problems); });
    fields.finish();
    if (problems.empty()) check_names(counts, fields.place(), problems);
  }
  if (!problems.empty()) throw Error{ErrorCode::config, jobs::to_text(problems.sorted())};
  return counts;
}

PrintedCounts only_subset(PrintedCounts counts, const std::string& subset) {
  std::set<std::string> subsets, cells;
  for (const auto& cell : counts.cells) {
    subsets.insert(cell.subset);
    if (cell.subset == subset) cells.insert(cell.cell);
  }
  if (cells.empty()) {
    const std::vector<std::string> names(subsets.begin(), subsets.end());
    throw Error{ErrorCode::usage, fmt::format("no printed cell is of subset '{}'{}; there are: {}", subset,
                                              did_you_mean(subset, names), fmt::join(names, ", "))};
  }
  std::erase_if(counts.cells, [&](const auto& cell) { return cell.subset != subset; });
  std::erase_if(counts.claims, [&](const auto& claim) {
    const bool of_another = claim.scope != subset && subsets.contains(claim.scope);
    return of_another || !cells.contains(claim.a) || !cells.contains(claim.b);
  });
  return counts;
}

std::optional<PrintedLevel> printed_in(const PrintedCell& cell, const std::string& scope) {
  if (scope == "all" || scope == cell.subset) return PrintedLevel{cell.passed, cell.n, ""};
  const auto found = cell.levels.find(scope);
  return found == cell.levels.end() ? std::nullopt : std::optional(found->second);
}

bool printed_fits(const std::string& printed, double value) {
  const auto point = printed.find('.');
  const int decimals = point == std::string::npos ? 0 : static_cast<int>(printed.find_last_of("0123456789") - point);
  // Half a unit of the last place, and a little for halves that two-digit arithmetic may round either way.
  return std::abs(std::strtod(printed.c_str(), nullptr) - value) <= 0.5 * std::pow(10.0, -decimals) + 1e-9;
}

}  // namespace nkigrid::aggregate
