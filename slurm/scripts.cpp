#include "slurm/scripts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <exception>
#include <iterator>
#include <string_view>

#include <fmt/core.h>
#include <unistd.h>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "jobs/endpoints.hpp"
#include "slurm/array_text.hpp"
#include "slurm/request_parts.hpp"
#include "slurm/submissions.hpp"

namespace nkigrid::slurm {
namespace {

/// Aggregation reads the log once and writes a few tables.
constexpr std::uint32_t kAggregationMinutes = 30;

std::string job_name(const jobs::Run& run) { return "nkigrid-" + run.grid.name; }

std::uint32_t minutes(Seconds time) { return std::max(1U, static_cast<std::uint32_t>(std::ceil(time.count() / 60))); }

/// What every job of a run has, whatever it is for.
JobRequest base_request(const jobs::Run& run) {
  JobRequest request;
  request.work_folder = std::filesystem::absolute(run.folder).native();
  request.environment = allowed_environment(environ);
  return request;
}

/// A value as sbatch reads it from an #SBATCH line: quotes and backslashes work as in a shell's double quotes, # begins
/// a comment.
std::string sbatch_word(const std::string& value) {
  constexpr std::string_view kPlain = "._/:=,+@%-*&|[]()";
  const auto is_plain = [&](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (std::all_of(value.begin(), value.end(), is_plain)) return value;
  std::string word = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  return word + "\"";
}

std::string option(std::string_view name, const std::string& value) {
  return value.empty() ? std::string() : fmt::format("#SBATCH --{}={}\n", name, sbatch_word(value));
}

/// A line of slurm.extra: one option, whatever stands in its value.
std::string extra_option(const std::string& line) {
  const auto end = line.find_first_of("= ");
  if (end == std::string::npos) return fmt::format("#SBATCH {}\n", line);
  return fmt::format("#SBATCH {}={}\n", line.substr(0, end), sbatch_word(line.substr(end + 1)));
}

/// The array job of one chunk.
JobRequest element_request(const jobs::Run& run, const Chunk& chunk, std::uint32_t number, std::uint32_t chunks,
                           const jobs::Pace& pace, std::uint32_t generation, const ElementCommand& command) {
  JobRequest request = resources_of(run.grid);
  request.work_folder = std::filesystem::absolute(run.folder).native();
  request.name = job_name(run);
  request.comment = elements_comment(run, {generation, number, chunk.offset, pace.at_once});
  request.output = (std::filesystem::absolute(run.folder) / "log" / "element-%A_%a.out").native();
  // The throttle bounds the whole run: each chunk gets its share.
  request.array = array_text(chunk.elements, throttle_share(pace.throttle, number, chunks));
  const auto part =
      jobs::most_elements_at_once(run.grid) > 0 ? fmt::format("--elements-at-once {} ", pace.at_once) : std::string();
  // exec: the batch script's USR1 and TERM go to mpirun, which forwards them to every rank. Lanes outnumber cores: no
  // binding.
  request.script = fmt::format(
      "#!/bin/sh\nset -eu\nexec mpirun -n {} --bind-to none {} run {} --shard $((SLURM_ARRAY_TASK_ID + {})) "
      "{}{}{}--quiet\n",
      request.tasks, shell_word(command.program), shell_word(request.work_folder), chunk.offset, part,
      command.with_parked ? "--parked " : "", jobs::servers_of(run.grid).empty() ? "" : "--served ");
  return request;
}

}  // namespace

JobRequest resources_of(const jobs::Grid& grid) {
  const auto& slurm = grid.slurm;
  JobRequest request;
  request.environment = allowed_environment(environ);
  request.resources = slurm;
  request.nodes = slurm.nodes;
  request.tasks = slurm.nodes * slurm.ranks_per_node;
  request.tasks_per_node = slurm.ranks_per_node;
  request.cpus_per_task = slurm.cpus_per_rank;
  request.time_minutes = minutes(slurm.time);
  request.warn_seconds = static_cast<std::uint32_t>(slurm.warn.count());
  return request;
}

std::vector<Chunk> split(const std::vector<std::uint32_t>& shards, const Limits& limits, std::uint32_t in_use) {
  // The controller counts an array as its elements, and refuses when jobs and elements together reach MaxJobCount.
  const auto room = limits.max_job_count > in_use + 1 ? limits.max_job_count - in_use - 1 : 0;
  if (shards.size() + 1 > room) {
    throw Error(ErrorCode::config, fmt::format("{} array elements and the aggregation are more jobs than this "
                                               "controller has room for (MaxJobCount {}, {} in use, "
                                               "{} free); use fewer `slurm.shards`, each with more nodes, or wait",
                                               shards.size(), limits.max_job_count, in_use, room));
  }
  std::vector<Chunk> chunks;
  for (const auto shard : shards) {
    const auto offset = shard - shard % limits.max_array_size;
    const bool full =
        !chunks.empty() && limits.max_array_tasks > 0 && chunks.back().elements.size() >= limits.max_array_tasks;
    if (chunks.empty() || chunks.back().offset != offset || full) chunks.push_back({.offset = offset, .elements = {}});
    chunks.back().elements.push_back(shard - offset);
  }
  return chunks;
}

std::uint32_t throttle_share(std::uint32_t throttle, std::uint32_t chunk, std::uint32_t chunks) {
  if (throttle == 0) return 0;
  return std::max(1U, throttle / chunks + (chunk < throttle % chunks ? 1 : 0));
}

std::optional<std::size_t> waits_for(std::uint32_t throttle, std::size_t chunk) {
  return throttle > 0 && chunk >= throttle ? std::optional(chunk - throttle) : std::nullopt;
}

std::string dependency_text(const std::vector<std::string>& ended, const std::vector<std::string>& begun) {
  std::string text = ended.empty() ? "" : "afterany";
  for (const auto& job : ended) text += fmt::format(":{}", job);
  if (begun.empty()) return text;
  text += text.empty() ? "after" : ",after";
  for (const auto& job : begun) text += fmt::format(":{}", job);
  return text;
}

std::vector<JobRequest> element_requests(const jobs::Run& run, const std::vector<Chunk>& chunks, const jobs::Pace& pace,
                                         std::uint32_t generation, const ElementCommand& command) {
  std::vector<JobRequest> requests;
  const auto count = static_cast<std::uint32_t>(chunks.size());
  for (std::uint32_t c = 0; c < count; ++c)
    requests.push_back(element_request(run, chunks[c], c, count, pace, generation, command));
  return requests;
}

namespace {

/// Where and for whom the elements run, and nothing of what they need.
jobs::SlurmSpec place_of(const jobs::SlurmSpec& elements) {
  jobs::SlurmSpec place;
  place.partition = elements.partition;
  place.account = elements.account;
  place.qos = elements.qos;
  place.reservation = elements.reservation;
  place.exclude = elements.exclude;
  place.mail_user = elements.mail_user;
  return place;
}

}  // namespace

JobRequest aggregation_request(const jobs::Run& run, std::uint32_t generation, const std::string& program) {
  JobRequest request = base_request(run);
  request.name = job_name(run) + "-tables";
  request.comment = aggregation_comment(run, generation);
  request.output = (std::filesystem::absolute(run.folder) / "log" / "aggregation-%j.out").native();
  // It reads a log: no accelerator, no size and no node list of the elements'.
  request.resources = place_of(run.grid.slurm);
  request.time_minutes = kAggregationMinutes;
  request.script = fmt::format("#!/bin/sh\nset -u\n{} seal {}\nexec {} tables {} --write\n", shell_word(program),
                               shell_word(request.work_folder), shell_word(program), shell_word(request.work_folder));
  return request;
}

JobRequest server_request(const jobs::Run& run, const jobs::KeptServer& server, std::uint32_t replica,
                          std::uint32_t generation, const std::string& program) {
  const auto& spec = *server.spec;
  JobRequest request = base_request(run);
  request.name = fmt::format("{}-server-{}", job_name(run), server.name);
  request.comment = server_comment(run, {server.name, replica, generation});
  request.output =
      (std::filesystem::absolute(run.folder) / "log" / fmt::format("server-{}.{}-%j.out", server.name, replica))
          .native();
  const auto& own = spec.slurm;
  const auto& elements = run.grid.slurm;
  const auto else_elements = [](const std::string& said, const std::string& of_elements) {
    return said.empty() ? of_elements : said;
  };
  request.resources = own;
  request.resources.partition = else_elements(own.partition, elements.partition);
  request.resources.account = else_elements(own.account, elements.account);
  request.resources.qos = else_elements(own.qos, elements.qos);
  request.resources.reservation = else_elements(own.reservation, elements.reservation);
  request.resources.mail_user = else_elements(own.mail_user, elements.mail_user);
  request.cpus_per_task = spec.cpus;
  request.time_minutes = minutes(spec.time.count() > 0 ? spec.time : run.grid.slurm.time + spec.start_timeout);
  // Who submits has been asked about the run's commands.
  request.script = fmt::format("#!/bin/sh\nset -eu\nexec {} tend {} {} --replica {} --job --trust-commands\n",
                               shell_word(program), shell_word(request.work_folder), shell_word(server.name), replica);
  return request;
}

void check_request(const JobRequest& request) {
  const auto refuse = [&](std::string_view why) {
    throw Error(ErrorCode::config, fmt::format("job '{}' cannot be submitted: {}", request.name, why));
  };
  if (request.name.empty()) refuse("it has no name; give the grid one");
  if (request.script.rfind("#!", 0) != 0) refuse("its script does not begin with #!");
  if (request.environment.empty()) refuse("its environment is empty; set at least PATH");
  if (request.time_minutes == 0 || request.tasks == 0 || request.nodes == 0)
    refuse("it asks for no time, task or node; look at the grid's slurm section");
  if (!std::filesystem::is_directory(request.work_folder))
    refuse(fmt::format("its folder '{}' does not exist", request.work_folder));
  const auto folder = std::filesystem::path(request.output).parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    refuse(fmt::format("'{}' cannot be written, where its output goes; Slurm would fail it without a log",
                       folder.native()));
}

namespace {

/// In which words of the grid a request is refused.
struct GridWords {
  std::string who, section;
  std::string cpus;  ///< which keys ask for so many, and what to do
};

GridWords words_of(const JobRequest& request, const std::string& server) {
  if (server.empty())
    return {"an element", "slurm",
            fmt::format("slurm.ranks_per_node {} x cpus_per_rank {} need; lower one of them", request.tasks_per_node,
                        request.cpus_per_task)};
  const auto section = fmt::format("models.{}.server.slurm", server);
  return {fmt::format("the server of model '{}'", server), section, fmt::format("{}.cpus asks for; lower it", section)};
}

/// Enough nodes must be as large as a node's share of the request. Nodes that the request leaves out do not count.
void check_sizes(const JobRequest& request, const Partition& partition, const GridWords& words) {
  if (partition.sizes.empty()) return;
  const std::uint32_t cpus = request.tasks_per_node * request.cpus_per_task;
  const auto memory = request.resources.mem.empty() ? 0 : megabytes(request.resources.mem);
  const auto excluded = node_names(request.resources.exclude);
  std::uint32_t left = 0, wide = 0, fitting = 0;
  for (const auto& node : partition.sizes) {
    if (excluded.contains(node.name)) continue;
    ++left;
    wide += node.cpus >= cpus ? 1 : 0;
    fitting += node.cpus >= cpus && node.memory >= memory ? 1 : 0;
  }
  if (fitting >= request.nodes) return;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::config, fmt::format("{} asks for {} node{}, and {}", words.who, request.nodes,
                                               request.nodes == 1 ? "" : "s", why));
  };
  if (left < request.nodes)
    refuse(
        fmt::format("{} of partition '{}' are left without {}; look at {}.exclude and at the nodes that are left out",
                    left, partition.name, request.resources.exclude, words.section));
  if (wide < request.nodes)
    refuse(fmt::format("{} of partition '{}' have the {} CPUs that {}, or name another {}.partition", wide,
                       partition.name, cpus, words.cpus, words.section));
  refuse(
      fmt::format("{0} of partition '{1}' have {2}.mem {3} and {4} CPUs; lower {2}.mem, or name another "
                  "{2}.partition",
                  fitting, partition.name, words.section, request.resources.mem, cpus));
}

}  // namespace

namespace {

/// How many elements' shares of one node it bears.
std::uint32_t shares_of(const Partition::Node& node, const jobs::SlurmSpec& spec) {
  const auto cpus = node.cpus / (spec.ranks_per_node * spec.cpus_per_rank);
  const bool whole =
      spec.mem == "0" || std::find(spec.extra.begin(), spec.extra.end(), "--exclusive") != spec.extra.end();
  const auto memory = spec.mem.empty() || whole ? 0 : megabytes(spec.mem);
  const auto by_memory = memory == 0 ? std::uint64_t{cpus} : node.memory / memory;
  const auto shares = static_cast<std::uint32_t>(std::min<std::uint64_t>(cpus, by_memory));
  return whole ? std::min(shares, 1U) : shares;
}

}  // namespace

std::vector<Partition> named_partitions(const std::vector<Partition>& partitions, const std::string& list) {
  const auto names = node_names(list);
  std::vector<Partition> named;
  std::copy_if(partitions.begin(), partitions.end(), std::back_inserter(named), [&](const auto& partition) {
    return list.empty() ? partition.is_default : names.contains(partition.name);
  });
  return named;
}

std::optional<std::uint32_t> elements_that_fit(const jobs::SlurmSpec& spec, const std::vector<Partition>& partitions) {
  auto counted = node_names(spec.exclude);  // and the nodes of more than one partition
  std::uint32_t shares = 0;
  bool known = false;
  for (const auto& partition : named_partitions(partitions, spec.partition)) {
    for (const auto& node : partition.sizes) {
      known = true;
      if (counted.insert(node.name).second) shares += shares_of(node, spec);
    }
  }
  return known ? std::optional(shares / spec.nodes) : std::nullopt;
}

namespace {

void check_fits_one(const JobRequest& request, const Partition& partition, const GridWords& words) {
  if (request.nodes <= partition.nodes) return check_sizes(request, partition, words);
  throw Error(ErrorCode::config,
              fmt::format("slurm.nodes is {}, partition '{}' has {} node{}: such an element would wait for ever; use "
                          "fewer nodes and more shards, or another slurm.partition",
                          request.nodes, partition.name, partition.nodes, partition.nodes == 1 ? "" : "s"));
}

}  // namespace

void check_fits(const JobRequest& request, const std::vector<Partition>& partitions, const std::string& server) {
  const auto words = words_of(request, server);
  std::exception_ptr first;
  for (const auto& partition : named_partitions(partitions, request.resources.partition)) {
    try {
      return check_fits_one(request, partition, words);
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

std::string sbatch_script(const JobRequest& request) {
  const auto& r = request.resources;
  std::string head = "#!/bin/sh\n";
  head += option("job-name", request.name) + option("comment", request.comment) + option("chdir", request.work_folder) +
          option("output", request.output) + "#SBATCH --open-mode=append\n#SBATCH --requeue\n" +
          option("array", request.array) + option("dependency", request.dependency) + option("partition", r.partition) +
          option("account", r.account) + option("qos", r.qos) + option("constraint", r.constraint) +
          option("reservation", r.reservation) + option("gres", r.gres) + option("mem", r.mem) +
          option("exclude", r.exclude);
  head += fmt::format(
      "#SBATCH --nodes={}\n#SBATCH --ntasks={}\n#SBATCH --ntasks-per-node={}\n#SBATCH --cpus-per-task={}\n#SBATCH "
      "--time={}\n",
      request.nodes, request.tasks, request.tasks_per_node, request.cpus_per_task, request.time_minutes);
  if (request.warn_seconds > 0) head += fmt::format("#SBATCH --signal=B:USR1@{}\n", request.warn_seconds);
  if (!r.mail_user.empty()) head += option("mail-user", r.mail_user) + "#SBATCH --mail-type=END,FAIL\n";
  for (const auto& line : r.extra) head += extra_option(line);
  return head + request.script.substr(request.script.find('\n') + 1);
}

namespace {

/// A job works in another folder: what PATH names relative to this one would be found by `submit` and by no element.
std::string absolute_path_list(std::string_view list) {
  std::string made;
  for (;;) {
    const auto entry = list.substr(0, list.find(':'));
    const bool relative = entry.empty() || entry.front() != '/';
    made += relative ? std::filesystem::absolute(entry.empty() ? "." : entry).lexically_normal().native()
                     : std::string(entry);
    if (entry.size() == list.size()) return made;
    made += ':';
    list.remove_prefix(entry.size() + 1);
  }
}

}  // namespace

std::vector<std::string> allowed_environment(char** environment) {
  // SLURM_* and SBATCH_* of an outer job, PMIX_* and OMPI_COMM_* of an outer launcher would leak in; keys never travel.
  static constexpr std::array<std::string_view, 13> kNames = {
      "PATH",      "HOME",   "USER", "LOGNAME",         "SHELL",      "LANG",
      "LC_ALL",    "TMPDIR", "TZ",   "LD_LIBRARY_PATH", "SLURM_CONF", "NKIGRID_CONFIGS",
      "MODULEPATH"};
  static constexpr std::array<std::string_view, 6> kPrefixes = {"OPENBLAS_",       "OMP_",   "OMPI_MCA_", "OMPI_ALLOW_",
                                                                "NKIGRID_DEVICE_", "NEURON_"};
  static constexpr std::array<std::string_view, 4> kSecret = {"KEY", "TOKEN", "SECRET", "PASSWORD"};
  std::vector<std::string> kept;
  for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    const bool allowed = std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
                         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                     [&](std::string_view prefix) { return name.rfind(prefix, 0) == 0; });
    const bool secret = std::any_of(kSecret.begin(), kSecret.end(),
                                    [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
    if (allowed && !secret)
      kept.push_back(name == "PATH" ? "PATH=" + absolute_path_list(text.substr(5)) : std::string(text));
  }
  return kept;
}

}  // namespace nkigrid::slurm
