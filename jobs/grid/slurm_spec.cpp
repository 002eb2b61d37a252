#include "jobs/grid/slurm_spec.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/units.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace {

constexpr Seconds kLongestWarning{65535};  // @source slurm.h: job_desc_msg_t.warn_time, a uint16_t
/// Slurm keeps nice + 0x80000000 in 32 bits and gives the ends other meanings. @source slurm.h: NICE_OFFSET; sbatch(1)
constexpr std::int64_t kNiceLimit = 2147483645;

bool is_bad_nice(std::string_view option) {
  constexpr std::string_view kName = "--nice";
  if (option.substr(0, kName.size()) != kName || option.size() == kName.size()) return false;
  const auto text = option.substr(kName.size() + 1);
  std::int64_t nice = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nice);
  return error != std::errc() || end != text.data() + text.size() || nice > kNiceLimit || nice < -kNiceLimit;
}

/// `--name`, and what may follow it.
bool is_long_option(std::string_view line) {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789-";
  const auto end = std::min(line.find_first_of("= "), line.size());
  const auto name = line.substr(0, end);
  return name.size() > 2 && name.starts_with("--") && name.find_first_not_of(kOfNames) == std::string_view::npos &&
         line.find_first_of("\n\r\t") == std::string_view::npos;
}

/// Options that nkigrid sets on each job itself, and that would undo them; and values where sbatch takes none.
/// @param what the key: "slurm.extra"
std::string trouble_with_option(const std::string& what, const std::string& line) {
  static const std::set<std::string_view> kOurs = {"--array",    "--chdir",     "--comment", "--dependency", "--error",
                                                   "--job-name", "--open-mode", "--output",  "--signal",     "--wrap"};
  static const std::set<std::string_view> kBare = {"--hold", "--no-requeue"};
  const auto end = std::min(line.find_first_of("= "), line.size());
  const auto name = std::string_view(line).substr(0, end);
  // sbatch takes the beginning of an option's name for the option.
  const auto ours =
      std::find_if(kOurs.begin(), kOurs.end(), [&](auto option) { return option.substr(0, name.size()) == name; });
  if (ours != kOurs.end())
    return fmt::format("{} '{}' (nkigrid sets {} on each job itself, and finds its jobs by it); leave it out", what,
                       line, *ours);
  if (kBare.contains(name) && end < line.size())
    return fmt::format("{} '{}' ({} takes no value); write {} alone", what, line, name, name);
  if (name == "--nice" && end < line.size() && line[end] == ' ')
    return fmt::format("{} '{}' (sbatch wants its value behind '='); write --nice={}", what, line,
                       line.substr(end + 1));
  return {};
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

void read_job_keys(Fields& fields, SlurmSpec& spec) {
  auto& problems = fields.problems();
  for (auto [key, value] : {std::pair<const char*, std::string*>{"partition", &spec.partition},
                            {"account", &spec.account},
                            {"qos", &spec.qos},
                            {"constraint", &spec.constraint},
                            {"reservation", &spec.reservation},
                            {"gres", &spec.gres},
                            {"exclude", &spec.exclude},
                            {"mail_user", &spec.mail_user}}) {
    *value = fields.text(key, "");
    // These reach a script's #SBATCH lines: a line break would begin one of its own.
    if (value->find_first_of("\n\r") != std::string::npos)
      problems.add(fields.find(key)->place, fmt::format("{} holds a line break", fields.path_of(key)));
  }
  spec.mem = read_memory(fields);
  const auto what = fields.path_of("extra");
  if (const auto* extra = fields.find("extra")) {
    for (auto& line : read_texts(*extra, what, problems)) {
      if (!is_long_option(line.text))
        problems.add(line.place, fmt::format("{} holds what is no sbatch option (--name, --name=value or --name value "
                                             "is wanted, in one line)",
                                             what));
      else if (is_bad_nice(line.text))
        problems.add(line.place, fmt::format("{} '{}' (a whole number from -{} to {} is wanted, or --nice "
                                             "alone for 100); lower than 0 is an administrator's to ask for",
                                             what, line.text, kNiceLimit, kNiceLimit));
      else if (const auto trouble = trouble_with_option(what, line.text); !trouble.empty())
        problems.add(line.place, trouble);
      spec.extra.push_back(std::move(line.text));
    }
  }
}

SlurmSpec read_slurm(const YamlNode& node, Problems& problems) {
  SlurmSpec slurm;
  slurm.given = true;
  Fields fields(node, "slurm", problems);
  read_job_keys(fields, slurm);
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
  fields.finish();
  return slurm;
}

void write_job_keys(const SlurmSpec& spec, FlowMap& map) {
  map.text_if("partition", spec.partition).text_if("account", spec.account).text_if("qos", spec.qos);
  map.text_if("constraint", spec.constraint).text_if("reservation", spec.reservation).text_if("gres", spec.gres);
  map.text_if("exclude", spec.exclude).text_if("mail_user", spec.mail_user);
  if (!spec.mem.empty()) map.text("mem", spec.mem == "0" ? "all" : spec.mem);
}

void write_extra(const SlurmSpec& spec, FlowMap& map) {
  if (!spec.extra.empty()) map.raw("extra", flow_list(spec.extra));
}

void write_slurm(const SlurmSpec& spec, FlowMap& map) {
  write_job_keys(spec, map);
  map.integer("shards", spec.shards).integer("nodes", spec.nodes).integer("ranks_per_node", spec.ranks_per_node);
  map.integer("cpus_per_rank", spec.cpus_per_rank).integer("throttle", spec.throttle);
  map.duration("time", spec.time).duration("warn", spec.warn);
  write_extra(spec, map);
}

}  // namespace nkigrid::jobs
