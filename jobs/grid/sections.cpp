#include "jobs/grid/sections.hpp"

#include <limits>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "jobs/grid/named_file.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

constexpr double kAnyNumber = std::numeric_limits<double>::infinity();

PromptSpec read_prompt(const YamlNode& node, const Folders& all, Problems& problems) {
  PromptSpec prompt;
  prompt.name = node.key;
  const auto path = read_text(node, fmt::format("prompts.{}", node.key), problems);
  if (!path) return prompt;
  const auto folders = all.of(node.place);
  const auto file = folders.find(*path);
  if (!file) {
    problems.add(node.place, fmt::format("no prompt file '{}'{}{}", *path, folders.near(*path), folders.looked_in()));
    return prompt;
  }
  try {
    if (fs::is_directory(*file)) {
      prompt = read_prompt_folder(*file);
      prompt.name = node.key;
    } else {
      prompt.file = *file;
      prompt.text = read_named_file(*file);
    }
    if (prompt.text.empty())
      problems.add(node.place, fmt::format("prompt file '{}' is empty; a system message needs words", *path));
    if (to_valid_utf8(prompt.text) != prompt.text)
      problems.add(node.place, fmt::format("prompt file '{}' is not UTF-8", *path));
  } catch (const std::exception& error) {
    problems.add(node.place, error.what());
  }
  return prompt;
}

}  // namespace

std::vector<PromptSpec> read_prompts(const YamlNode& node, const Folders& folders, Problems& problems) {
  std::vector<PromptSpec> prompts;
  for (const auto& item : node.items) prompts.push_back(read_prompt(item, folders, problems));
  return prompts;
}

CheckSpec read_check(const YamlNode& node, Problems& problems) {
  static const std::vector<std::string> kSandboxes = {"strict", "relaxed"};
  CheckSpec check;
  Fields fields(node, "check", problems);
  check.atol = fields.number("atol", check.atol, 0, kAnyNumber);
  check.rtol = fields.number("rtol", check.rtol, 0, kAnyNumber);
  check.trials = fields.integer("trials", check.trials, 1, 1000);
  check.tool_trials = fields.integer("tool_trials", check.tool_trials, 1,
                                     5);  // the tool's own range, see the kernel interface
  check.compile_timeout = fields.duration("compile_timeout", check.compile_timeout);
  check.run_timeout = fields.duration("run_timeout", check.run_timeout);
  check.strict_sandbox = fields.choice("sandbox", "strict", kSandboxes) == "strict";
  fields.finish();
  return check;
}

Budget read_budget(const YamlNode& node, const std::string& path, Problems& problems) {
  Budget budget;
  Fields fields(node, path, problems);
  if (const auto* usd = fields.find("usd"))
    budget.usd = read_number(*usd, fields.path_of("usd"), 0, kAnyNumber, problems);
  if (fields.find("tokens") != nullptr) budget.tokens = fields.integer64("tokens", 0);
  if (fields.find("wall") != nullptr) budget.wall = fields.duration("wall", Seconds(0));
  fields.finish();
  return budget;
}

}  // namespace nkigrid::jobs
