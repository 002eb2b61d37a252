#include "jobs/grid/sections.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/text.hpp"
#include "jobs/grid/units.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

constexpr double kAnyNumber = std::numeric_limits<double>::infinity();
constexpr Seconds kLongestWarning{65535};  // @source slurm.h: job_desc_msg_t.warn_time, a uint16_t
/// Slurm keeps nice + 0x80000000 in 32 bits and gives the ends other meanings. @source slurm.h: NICE_OFFSET; sbatch(1)
constexpr std::int64_t kNiceLimit = 2147483645;

bool is_bad_nice(std::string_view option) {
  constexpr std::string_view kName = "--nice";
  if (option.substr(0, kName.size()) != kName || option.size() == kName.size()) return false;
  const auto text = option.substr(kName.size() + 1);
  std::int64_t nice = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nice);
  return error != std::errc() || end != text.data() + text.size() || std::abs(nice) > kNiceLimit;
}

PromptSpec read_prompt(const YamlNode& node, const Folders& folders, Problems& problems) {
  PromptSpec prompt;
  prompt.name = node.key;
  const auto path = read_text(node, fmt::format("prompts.{}", node.key), problems);
  if (!path) return prompt;
  const auto file = folders.find(*path);
  if (!file || !fs::is_regular_file(*file)) {
    problems.add(node.place, fmt::format("no prompt file '{}'{}{}", *path, folders.near(*path), folders.looked_in()));
    return prompt;
  }
  try {
    prompt.file = *file;
    prompt.text = read_file(*file);
    if (prompt.text.empty())
      problems.add(node.place, fmt::format("prompt file '{}' is empty; a system message needs words", *path));
    if (to_valid_utf8(prompt.text) != prompt.text)
      problems.add(node.place, fmt::format("prompt file '{}' is not UTF-8", *path));
  } catch (const Error& error) {
    problems.add(node.place, error.what());
  }
  return prompt;
}

/// `64 GiB` or `all`, in Slurm's spelling.
std::string read_memory(Fields& fields) {
  const auto* node = fields.find("mem");
  if (node == nullptr) return "";
  const auto text = fields.text("mem", "");
  if (node->kind != YamlNode::Kind::scalar) return "";  // reported
  if (text == "all") return "0";
  const auto bytes = parse_size_bytes(text);
  if (bytes && *bytes >= (1U << 20)) return fmt::format("{}M", *bytes >> 20);
  fields.problems().add(
      node->place,
      fmt::format("{} is {} (a size with its unit of at least 1 MiB, or `all`, is wanted); write e.g. 64 GiB",
                  fields.path_of("mem"), describe(*node)));
  return "";
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

namespace {

/// Options that nkigrid sets on each job itself, and that would undo them; and values where sbatch takes none.
std::string trouble_with_option(const std::string& line) {
  static const std::set<std::string_view> kOurs = {"--array",    "--chdir",     "--comment", "--dependency", "--error",
                                                   "--job-name", "--open-mode", "--output",  "--signal",     "--wrap"};
  static const std::set<std::string_view> kBare = {"--hold", "--no-requeue"};
  const auto end = std::min(line.find_first_of("= "), line.size());
  const auto name = std::string_view(line).substr(0, end);
  if (kOurs.contains(name))
    return fmt::format("slurm.extra '{}' (nkigrid sets {} on each job itself, and finds its jobs by it); leave it out",
                       line, name);
  if (kBare.contains(name) && end < line.size())
    return fmt::format("slurm.extra '{}' ({} takes no value); write {} alone", line, name, name);
  if (name == "--nice" && end < line.size() && line[end] == ' ')
    return fmt::format("slurm.extra '{}' (sbatch wants its value behind '='); write --nice={}", line,
                       line.substr(end + 1));
  return {};
}

}  // namespace

SlurmSpec read_slurm(const YamlNode& node, Problems& problems) {
  SlurmSpec slurm;
  slurm.given = true;
  Fields fields(node, "slurm", problems);
  for (auto [key, value] : {std::pair<const char*, std::string*>{"partition", &slurm.partition},
                            {"account", &slurm.account},
                            {"qos", &slurm.qos},
                            {"constraint", &slurm.constraint},
                            {"reservation", &slurm.reservation},
                            {"gres", &slurm.gres},
                            {"exclude", &slurm.exclude},
                            {"mail_user", &slurm.mail_user}}) {
    *value = fields.text(key, "");
    // These reach a script's #SBATCH lines: a line break would begin one of its own.
    if (value->find_first_of("\n\r") != std::string::npos)
      problems.add(fields.find(key)->place, fmt::format("slurm.{} holds a line break", key));
  }
  slurm.mem = read_memory(fields);
  slurm.shards = fields.integer("shards", slurm.shards, 1, 1'000'000);
  slurm.nodes = fields.integer("nodes", slurm.nodes, 1, 100'000);
  slurm.ranks_per_node = fields.integer("ranks_per_node", slurm.ranks_per_node, 1, 10'000);
  slurm.cpus_per_rank = fields.integer("cpus_per_rank", slurm.cpus_per_rank, 1, 10'000);
  slurm.throttle = fields.integer("throttle", slurm.throttle, 0);
  const auto before = problems.size();
  slurm.time = fields.duration("time", slurm.time);
  slurm.warn = fields.duration("warn", slurm.warn);
  if (slurm.warn >= slurm.time && problems.size() == before)
    problems.add(fields.place(), "slurm.warn is not shorter than slurm.time; nothing could be drained in time");
  else if (slurm.warn > kLongestWarning)
    problems.add(fields.find("warn")->place,
                 fmt::format("slurm.warn is {} (at most {} s, 18 h: batch systems count it in 16 bits); stop sooner",
                             format_duration(slurm.warn), kLongestWarning.count()));
  if (const auto* extra = fields.find("extra")) {
    for (auto& line : read_texts(*extra, "slurm.extra", problems)) {
      if (line.text.rfind("--", 0) != 0 || line.text.find_first_of("\n\r") != std::string::npos)
        problems.add(line.place, "slurm.extra holds what is no sbatch option (one line that begins with -- is wanted)");
      else if (is_bad_nice(line.text))
        problems.add(line.place, fmt::format("slurm.extra '{}' (a whole number from -{} to {} is wanted, or --nice "
                                             "alone for 100); lower than 0 is an administrator's to ask for",
                                             line.text, kNiceLimit, kNiceLimit));
      else if (const auto trouble = trouble_with_option(line.text); !trouble.empty())
        problems.add(line.place, trouble);
      slurm.extra.push_back(std::move(line.text));
    }
  }
  fields.finish();
  return slurm;
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
