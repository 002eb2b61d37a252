#include "slurm/doctor.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/clock.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/own_line.hpp"
#include "jobs/base/text.hpp"
#include "slurm/connect.hpp"
#include "slurm/reasons.hpp"
#include "slurm/request_parts.hpp"
#include "slurm/scripts.hpp"
#include "slurm/slurm.hpp"

namespace nkigrid::slurm {
namespace {

namespace fs = std::filesystem;
using jobs::Finding;
using jobs::lacks;
using jobs::look;
using jobs::Need;
using jobs::not_needed;

constexpr std::uint32_t kProbeElements = 2;
constexpr Seconds kLook{0.5};     ///< between looks at the probe's files
constexpr Seconds kAskSlurm{10};  ///< between questions to the controller

std::string look_at_limits(const Limits& limits, const std::optional<jobs::Grid>& grid, std::uint32_t in_use) {
  auto text =
      fmt::format("MaxArraySize {}, MaxJobCount {} ({} in use)", limits.max_array_size, limits.max_job_count, in_use);
  if (!grid) return text;
  const auto shards = grid->slurm.shards;
  if (shards + 1 + in_use >= limits.max_job_count) {
    lacks(fmt::format("{}: no room for {} shards and the aggregation; use fewer slurm.shards, each with more nodes",
                      text, shards));
  }
  return fmt::format("{}; {} shards are {} array(s)", text, shards,
                     (shards + limits.max_array_size - 1) / limits.max_array_size);
}

std::string names_of(const std::vector<Partition>& partitions) {
  std::string names;
  for (const auto& partition : partitions) names += (names.empty() ? "" : ", ") + partition.name;
  return names;
}

/// @throws Error when one that the grid names does not exist
std::vector<Partition> wanted_partitions(const std::vector<Partition>& partitions, const std::string& wanted) {
  auto found = named_partitions(partitions, wanted);
  if (found.empty() && wanted.empty())
    lacks(fmt::format("there is no default partition; set slurm.partition (legal: {})", names_of(partitions)));
  for (const auto& name : node_names(wanted)) {
    if (std::none_of(found.begin(), found.end(), [&](const auto& partition) { return partition.name == name; }))
      lacks(fmt::format("no partition '{}' (legal: {}); set slurm.partition", name, names_of(partitions)));
  }
  return found;
}

/// @throws Error when an element of the grid would wait in the partition for ever
std::string look_at_partition(const Partition& partition, const jobs::SlurmSpec& wanted) {
  if (!partition.up)
    lacks(fmt::format("partition '{}' is not up; ask the administrators, or name another one", partition.name));
  if (wanted.nodes > partition.nodes)
    lacks(fmt::format("partition '{}' has {} nodes, a shard asks for {}; lower slurm.nodes", partition.name,
                      partition.nodes, wanted.nodes));
  const auto minutes = static_cast<std::uint32_t>(std::ceil(wanted.time.count() / 60));
  if (partition.max_minutes > 0 && minutes > partition.max_minutes) {
    lacks(fmt::format(
        "partition '{}' allows {} minutes, a shard asks for {}; lower slurm.time (a run continues with `resume`)",
        partition.name, partition.max_minutes, minutes));
  }
  return fmt::format(
      "'{}' is up, {} nodes, {}", partition.name, partition.nodes,
      partition.max_minutes == 0 ? "no time limit" : fmt::format("at most {} minutes", partition.max_minutes));
}

/// Of several partitions that a grid names Slurm takes the first that can: one that can is enough.
std::string look_at_partitions(const std::vector<Partition>& partitions, const jobs::SlurmSpec& wanted) {
  std::string good, trouble;
  for (const auto& partition : wanted_partitions(partitions, wanted.partition)) {
    try {
      good += (good.empty() ? "" : "; ") + look_at_partition(partition, wanted);
    } catch (const Error& error) {
      trouble += (trouble.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  if (good.empty()) lacks(trouble);
  return trouble.empty() ? good : good + "; " + trouble;
}

/// What `submit` would send for the grid's elements, as far as Slurm judges it.
JobRequest array_request(const jobs::Grid& grid, const Limits& limits) {
  auto request = resources_of(grid);
  request.name = "nkigrid-" + grid.name;
  request.script = "#!/bin/sh\n";
  request.work_folder = "/";
  request.output = "/dev/null";
  request.array = fmt::format("0-{}", std::max(1U, std::min(grid.slurm.shards, limits.max_array_size)) - 1);
  return request;
}

/// Too few nodes are up for one element: the controller then answers as if there were none that could ever take it.
bool nodes_are_away(const JobRequest& request, const std::vector<Partition>& partitions) {
  std::set<std::string> up;
  bool known = false;
  for (const auto& partition : named_partitions(partitions, request.resources.partition)) {
    for (const auto& node : partition.sizes) {
      known = true;
      if (!node.away) up.insert(node.name);
    }
  }
  return known && up.size() < request.nodes;
}

/// Asks as `submit` would ask, and submits nothing.
Finding try_out(Client& client, const jobs::Grid& grid, const std::vector<Partition>& partitions) {
  std::string waits;
  auto finding = look("submit", Need::needed, [&] {
    const auto request = array_request(grid, client.limits());
    check_fits(request, partitions);
    if (nodes_are_away(request, partitions))
      waits = "its nodes are down or drained";
    else
      waits = client.try_out(request);
    return std::string("the controller would take the grid's elements");
  });
  if (waits.empty()) return finding;
  return {"submit", false, Need::useful,
          fmt::format("the controller would take the grid's elements and let them wait: {}; look at `sinfo`, ask the "
                      "administrators, or name another slurm.partition",
                      waits)};
}

JobRequest probe_request(const jobs::Grid& grid, const std::string& program, const fs::path& folder) {
  auto request = resources_of(grid);
  request.name = "nkigrid-probe";
  request.comment = "nkigrid probe " + folder.filename().native();
  request.work_folder = folder.native();
  request.output = (folder / "element-%a.out").native();
  request.array = fmt::format("0-{}", kProbeElements - 1);
  request.time_minutes = 1;
  request.warn_seconds = 0;
  std::erase(request.resources.extra, "--hold");  // nobody would release it
  // One process looks; the ranks that mpirun starts prove that they find one another. Each answer is renamed in: a file
  // that is there is whole.
  request.script = fmt::format(
      "#!/bin/sh\n{0} doctor --json > answer-$SLURM_ARRAY_TASK_ID.part\n"
      "mpirun -n {1} --bind-to none {0} doctor --mpi {1} > ranks-$SLURM_ARRAY_TASK_ID 2>&1\n"
      "echo $? > mpi-$SLURM_ARRAY_TASK_ID\necho \"$SLURMD_NODENAME\" > node-$SLURM_ARRAY_TASK_ID\n"
      "mv answer-$SLURM_ARRAY_TASK_ID.part answer-$SLURM_ARRAY_TASK_ID\n",
      shell_word(program), request.tasks);
  return request;
}

std::string line_of(const fs::path& path) {
  if (!fs::exists(path)) return {};
  const auto text = read_file(path);
  return text.substr(0, text.find('\n'));
}

/// What one element's own doctor found, with its node's name before each line.
void take_answer(const fs::path& folder, const std::string& program, std::uint32_t element,
                 std::vector<Finding>& findings) {
  const auto node = line_of(folder / fmt::format("node-{}", element));
  const auto mpi = line_of(folder / fmt::format("mpi-{}", element));
  findings.push_back(look("probe mpi", Need::needed, [&] {
    const auto said = folder / fmt::format("ranks-{}", element);
    if (mpi != "0")
      lacks(fmt::format("{}: mpirun ended with {}; {}; see '{}'", node, mpi,
                        printable(own_line(fs::exists(said) ? read_file(said) : "")), said.native()));
    return fmt::format("{}: mpirun starts every rank, and they find one another", node);
  }));
  try {
    const auto answer = nlohmann::json::parse(read_file(folder / fmt::format("answer-{}", element)));
    for (const auto& found : answer.at("findings")) {
      const auto need = found.at("needed").get<bool>()  ? Need::needed
                        : found.at("word") == "lacking" ? Need::useful
                                                        : Need::optional;
      findings.push_back({"probe " + found.at("what").get<std::string>(), found.at("ok").get<bool>(), need,
                          node + ": " + found.at("text").get<std::string>()});
    }
  } catch (const nlohmann::json::exception&) {
    findings.push_back({"probe", false, Need::needed,
                        fmt::format("{}: nkigrid did not start there; see '{}' (is '{}' on a shared file system?)",
                                    node, (folder / fmt::format("element-{}.out", element)).native(), program)});
  }
}

/// Waits until both answers are there, the job has ended without them, or patience is at its end. @returns why it
/// waited in vain, or ""
std::string wait_for_answers(Client& client, const JobRequest& request, const fs::path& folder, Seconds patience) {
  const SystemClock clock;
  const auto started = clock.monotonic();
  auto asked = started;
  std::string reason = "not looked at yet";
  while (clock.monotonic() - started < patience) {
    bool all = true;
    for (std::uint32_t element = 0; element < kProbeElements; ++element)
      all = all && fs::exists(folder / fmt::format("answer-{}", element));
    if (all) return {};
    if (clock.monotonic() - asked >= kAskSlurm) {
      asked = clock.monotonic();
      const auto jobs = client.jobs(request.comment);
      const auto living = std::find_if(jobs.begin(), jobs.end(), [](const auto& job) { return job.active(); });
      if (living == jobs.end()) return fmt::format("the probe ended without an answer; see '{}'", folder.native());
      reason = living->state + (living->reason.empty() ? "" : ", " + living->reason) +
               (living->advice.empty() ? "" : "; " + for_job(living->advice, std::to_string(living->job)));
    }
    std::this_thread::sleep_for(kLook);
  }
  return fmt::format("no answer within {:.0f} s ({}); the probe was cancelled", patience.count(), reason);
}

}  // namespace

std::vector<Finding> look_at_slurm(const std::optional<jobs::Grid>& grid) {
  if (grid && !grid->slurm.given) return {not_needed("slurm", "the grid has no slurm section")};
  const auto need = grid ? Need::useful : Need::optional;
  std::unique_ptr<Client> client;
  std::vector<Finding> findings = {look("slurm", need, [&] {
    client = connect();
    return fmt::format("the controller answers; libslurm {}", client->version());
  })};
  if (client == nullptr) return findings;
  findings.push_back(
      look("slurm limits", need, [&] { return look_at_limits(client->limits(), grid, client->jobs_in_use()); }));
  // A site that is here and cannot take the grid: no submit of it works.
  if (!grid) return findings;
  std::vector<Partition> partitions;
  findings.push_back(look("partition", Need::needed, [&] {
    partitions = client->partitions();
    return look_at_partitions(partitions, grid->slurm);
  }));
  findings.push_back(try_out(*client, *grid, partitions));
  return findings;
}

std::vector<Finding> probe_slurm(const jobs::Grid& grid, const std::string& program, Seconds patience) {
  std::vector<Finding> findings;
  const auto folder = fs::absolute(fmt::format("nkigrid-probe-{}-{:.0f}", ::getpid(), SystemClock().unix_seconds()));
  findings.push_back(look("probe", Need::needed, [&] {
    const auto client = connect();
    make_directories(folder);
    const auto request = probe_request(grid, program, folder);
    check_request(request);
    const auto job = client->submit(request);
    const auto trouble = wait_for_answers(*client, request, folder, patience);
    if (!trouble.empty()) {
      client->cancel(job);
      lacks(trouble);
    }
    return fmt::format("array {} ran {} elements", job, kProbeElements);
  }));
  if (!findings.front().ok) return findings;
  for (std::uint32_t element = 0; element < kProbeElements; ++element) take_answer(folder, program, element, findings);
  if (std::all_of(findings.begin(), findings.end(),
                  [](const auto& finding) { return finding.ok || finding.need != Need::needed; }))
    fs::remove_all(folder);
  return findings;
}

}  // namespace nkigrid::slurm
