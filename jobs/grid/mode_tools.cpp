#include "jobs/grid/mode_tools.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "jobs/base/text.hpp"
#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/modes.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 4> kNames = {"compile_kernel", "verify_kernel", "profile_kernel", "read_docs"};

std::vector<std::string> tool_names() { return {kNames.begin(), kNames.end()}; }

void read_offer(const YamlNode& node, const std::string& path, ModeTools& tools, Problems& problems) {
  const auto before = problems.size();
  tools.offer.clear();
  const auto names = tool_names();
  for (const auto& word : read_words(node, path, "[compile_kernel, verify_kernel]", problems)) {
    const auto at = std::find(names.begin(), names.end(), word.text);
    if (at == names.end()) {
      problems.add(word.place, fmt::format("unknown tool '{}' in {}{} (there are: {})", word.text, path,
                                           did_you_mean(word.text, names), fmt::join(names, ", ")));
      continue;
    }
    const auto tool = static_cast<Tool>(at - names.begin());
    if (tools.offers(tool)) problems.add(word.place, fmt::format("{} names {} twice", path, word.text));
    tools.offer.push_back(tool);
  }
  std::sort(tools.offer.begin(), tools.offer.end());
  if (!tools.offers(Tool::compile) && problems.size() == before)
    problems.add(node.place, fmt::format("{} lacks compile_kernel (a kernel is submitted by it); add it", path));
}

void read_docs(Fields& fields, const Folders& all, ModeTools& tools) {
  auto& problems = fields.problems();
  const auto* node = fields.find("docs");
  const auto name = fields.text("docs", "");
  if (tools.offers(Tool::read_docs) != (node != nullptr)) {
    problems.add(
        node != nullptr ? node->key_place : fields.place(),
        node != nullptr
            ? fmt::format("{} is shown by read_docs, which is not offered; add it to offer", fields.path_of("docs"))
            : fmt::format("{} is missing (the folder that read_docs shows)", fields.path_of("docs")));
    return;
  }
  if (node == nullptr || node->kind != YamlNode::Kind::scalar) return;
  const auto folders = all.of(node->place);
  const auto folder = folders.find(name);
  if (!folder || !fs::is_directory(*folder)) {
    problems.add(node->place, fmt::format("no folder '{}'{}", name, folders.looked_in()));
    return;
  }
  tools.docs = *folder;
  try {
    tools.pages = read_pages(*folder);
  } catch (const std::exception& error) {
    problems.add(node->place, fmt::format("{}: {}", fields.path_of("docs"), error.what()));
  }
}

}  // namespace

std::string_view name_of(Tool tool) { return kNames.at(static_cast<std::size_t>(tool)); }

bool ModeTools::offers(Tool tool) const { return std::find(offer.begin(), offer.end(), tool) != offer.end(); }

std::vector<Tool> usual_tools() { return {Tool::compile, Tool::verify}; }

ModeTools read_mode_tools(const YamlNode& node, const std::string& path, const ModeKindRow& row, const Folders& folders,
                          Problems& problems) {
  ModeTools tools;
  if (row.calls_tools) tools.offer = usual_tools();
  Fields fields(node, path, problems);
  static const std::vector<std::string> kDiagnostics = {"explained", "plain"};
  if (fields.choice("diagnostics", "explained", kDiagnostics) == "plain") tools.diagnostics = Diagnostics::plain;
  if (row.calls_tools) {
    if (const auto* offer = fields.find("offer")) read_offer(*offer, fields.path_of("offer"), tools, problems);
    read_docs(fields, folders, tools);
  } else {
    for (const auto* key : {"offer", "docs"}) {
      if (const auto* own = fields.find(key))
        problems.add(own->key_place,
                     fmt::format("{} means nothing for kind {}; leave it out", fields.path_of(key), row.name));
    }
  }
  fields.finish();
  return tools;
}

FlowMap mode_tools_map(const ModeTools& tools, const ModeKindRow& row, const std::string& docs) {
  FlowMap map;
  map.text("diagnostics", tools.diagnostics == Diagnostics::plain ? "plain" : "explained");
  if (!row.calls_tools) return map;
  std::vector<std::string> names;
  for (const auto tool : tools.offer) names.emplace_back(name_of(tool));
  if (tools.offer != usual_tools()) map.raw("offer", flow_list(names));
  if (tools.offers(Tool::read_docs)) map.text("docs", docs);
  return map;
}

}  // namespace nkigrid::jobs
