#include "slurm/reasons.hpp"

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace nkigrid::slurm {
namespace {

/// Slurm's own names by number (slurm.h, enum job_state_reason, 22.05), WAIT_ left off. Numbers stand in messages
/// between releases: none changes its meaning, newer ones come behind.
constexpr std::array<std::string_view, 199> kNames = {"NO_REASON",
                                                      "PRIORITY",
                                                      "DEPENDENCY",
                                                      "RESOURCES",
                                                      "PART_NODE_LIMIT",
                                                      "PART_TIME_LIMIT",
                                                      "PART_DOWN",
                                                      "PART_INACTIVE",
                                                      "HELD",
                                                      "TIME",
                                                      "LICENSES",
                                                      "ASSOC_JOB_LIMIT",
                                                      "ASSOC_RESOURCE_LIMIT",
                                                      "ASSOC_TIME_LIMIT",
                                                      "RESERVATION",
                                                      "NODE_NOT_AVAIL",
                                                      "HELD_USER",
                                                      "FRONT_END",
                                                      "FAIL_DEFER",
                                                      "FAIL_DOWN_PARTITION",
                                                      "FAIL_DOWN_NODE",
                                                      "FAIL_BAD_CONSTRAINTS",
                                                      "FAIL_SYSTEM",
                                                      "FAIL_LAUNCH",
                                                      "FAIL_EXIT_CODE",
                                                      "FAIL_TIMEOUT",
                                                      "FAIL_INACTIVE_LIMIT",
                                                      "FAIL_ACCOUNT",
                                                      "FAIL_QOS",
                                                      "QOS_THRES",
                                                      "QOS_JOB_LIMIT",
                                                      "QOS_RESOURCE_LIMIT",
                                                      "QOS_TIME_LIMIT",
                                                      "BLOCK_MAX_ERR",
                                                      "BLOCK_D_ACTION",
                                                      "CLEANING",
                                                      "PROLOG",
                                                      "QOS",
                                                      "ACCOUNT",
                                                      "DEP_INVALID",
                                                      "QOS_GRP_CPU",
                                                      "QOS_GRP_CPU_MIN",
                                                      "QOS_GRP_CPU_RUN_MIN",
                                                      "QOS_GRP_JOB",
                                                      "QOS_GRP_MEM",
                                                      "QOS_GRP_NODE",
                                                      "QOS_GRP_SUB_JOB",
                                                      "QOS_GRP_WALL",
                                                      "QOS_MAX_CPU_PER_JOB",
                                                      "QOS_MAX_CPU_MINS_PER_JOB",
                                                      "QOS_MAX_NODE_PER_JOB",
                                                      "QOS_MAX_WALL_PER_JOB",
                                                      "QOS_MAX_CPU_PER_USER",
                                                      "QOS_MAX_JOB_PER_USER",
                                                      "QOS_MAX_NODE_PER_USER",
                                                      "QOS_MAX_SUB_JOB",
                                                      "QOS_MIN_CPU",
                                                      "ASSOC_GRP_CPU",
                                                      "ASSOC_GRP_CPU_MIN",
                                                      "ASSOC_GRP_CPU_RUN_MIN",
                                                      "ASSOC_GRP_JOB",
                                                      "ASSOC_GRP_MEM",
                                                      "ASSOC_GRP_NODE",
                                                      "ASSOC_GRP_SUB_JOB",
                                                      "ASSOC_GRP_WALL",
                                                      "ASSOC_MAX_JOBS",
                                                      "ASSOC_MAX_CPU_PER_JOB",
                                                      "ASSOC_MAX_CPU_MINS_PER_JOB",
                                                      "ASSOC_MAX_NODE_PER_JOB",
                                                      "ASSOC_MAX_WALL_PER_JOB",
                                                      "ASSOC_MAX_SUB_JOB",
                                                      "MAX_REQUEUE",
                                                      "ARRAY_TASK_LIMIT",
                                                      "BURST_BUFFER_RESOURCE",
                                                      "BURST_BUFFER_STAGING",
                                                      "FAIL_BURST_BUFFER_OP",
                                                      "POWER_NOT_AVAIL",
                                                      "POWER_RESERVED",
                                                      "ASSOC_GRP_UNK",
                                                      "ASSOC_GRP_UNK_MIN",
                                                      "ASSOC_GRP_UNK_RUN_MIN",
                                                      "ASSOC_MAX_UNK_PER_JOB",
                                                      "ASSOC_MAX_UNK_PER_NODE",
                                                      "ASSOC_MAX_UNK_MINS_PER_JOB",
                                                      "ASSOC_MAX_CPU_PER_NODE",
                                                      "ASSOC_GRP_MEM_MIN",
                                                      "ASSOC_GRP_MEM_RUN_MIN",
                                                      "ASSOC_MAX_MEM_PER_JOB",
                                                      "ASSOC_MAX_MEM_PER_NODE",
                                                      "ASSOC_MAX_MEM_MINS_PER_JOB",
                                                      "ASSOC_GRP_NODE_MIN",
                                                      "ASSOC_GRP_NODE_RUN_MIN",
                                                      "ASSOC_MAX_NODE_MINS_PER_JOB",
                                                      "ASSOC_GRP_ENERGY",
                                                      "ASSOC_GRP_ENERGY_MIN",
                                                      "ASSOC_GRP_ENERGY_RUN_MIN",
                                                      "ASSOC_MAX_ENERGY_PER_JOB",
                                                      "ASSOC_MAX_ENERGY_PER_NODE",
                                                      "ASSOC_MAX_ENERGY_MINS_PER_JOB",
                                                      "ASSOC_GRP_GRES",
                                                      "ASSOC_GRP_GRES_MIN",
                                                      "ASSOC_GRP_GRES_RUN_MIN",
                                                      "ASSOC_MAX_GRES_PER_JOB",
                                                      "ASSOC_MAX_GRES_PER_NODE",
                                                      "ASSOC_MAX_GRES_MINS_PER_JOB",
                                                      "ASSOC_GRP_LIC",
                                                      "ASSOC_GRP_LIC_MIN",
                                                      "ASSOC_GRP_LIC_RUN_MIN",
                                                      "ASSOC_MAX_LIC_PER_JOB",
                                                      "ASSOC_MAX_LIC_MINS_PER_JOB",
                                                      "ASSOC_GRP_BB",
                                                      "ASSOC_GRP_BB_MIN",
                                                      "ASSOC_GRP_BB_RUN_MIN",
                                                      "ASSOC_MAX_BB_PER_JOB",
                                                      "ASSOC_MAX_BB_PER_NODE",
                                                      "ASSOC_MAX_BB_MINS_PER_JOB",
                                                      "QOS_GRP_UNK",
                                                      "QOS_GRP_UNK_MIN",
                                                      "QOS_GRP_UNK_RUN_MIN",
                                                      "QOS_MAX_UNK_PER_JOB",
                                                      "QOS_MAX_UNK_PER_NODE",
                                                      "QOS_MAX_UNK_PER_USER",
                                                      "QOS_MAX_UNK_MINS_PER_JOB",
                                                      "QOS_MIN_UNK",
                                                      "QOS_MAX_CPU_PER_NODE",
                                                      "QOS_GRP_MEM_MIN",
                                                      "QOS_GRP_MEM_RUN_MIN",
                                                      "QOS_MAX_MEM_MINS_PER_JOB",
                                                      "QOS_MAX_MEM_PER_JOB",
                                                      "QOS_MAX_MEM_PER_NODE",
                                                      "QOS_MAX_MEM_PER_USER",
                                                      "QOS_MIN_MEM",
                                                      "QOS_GRP_ENERGY",
                                                      "QOS_GRP_ENERGY_MIN",
                                                      "QOS_GRP_ENERGY_RUN_MIN",
                                                      "QOS_MAX_ENERGY_PER_JOB",
                                                      "QOS_MAX_ENERGY_PER_NODE",
                                                      "QOS_MAX_ENERGY_PER_USER",
                                                      "QOS_MAX_ENERGY_MINS_PER_JOB",
                                                      "QOS_MIN_ENERGY",
                                                      "QOS_GRP_NODE_MIN",
                                                      "QOS_GRP_NODE_RUN_MIN",
                                                      "QOS_MAX_NODE_MINS_PER_JOB",
                                                      "QOS_MIN_NODE",
                                                      "QOS_GRP_GRES",
                                                      "QOS_GRP_GRES_MIN",
                                                      "QOS_GRP_GRES_RUN_MIN",
                                                      "QOS_MAX_GRES_PER_JOB",
                                                      "QOS_MAX_GRES_PER_NODE",
                                                      "QOS_MAX_GRES_PER_USER",
                                                      "QOS_MAX_GRES_MINS_PER_JOB",
                                                      "QOS_MIN_GRES",
                                                      "QOS_GRP_LIC",
                                                      "QOS_GRP_LIC_MIN",
                                                      "QOS_GRP_LIC_RUN_MIN",
                                                      "QOS_MAX_LIC_PER_JOB",
                                                      "QOS_MAX_LIC_PER_USER",
                                                      "QOS_MAX_LIC_MINS_PER_JOB",
                                                      "QOS_MIN_LIC",
                                                      "QOS_GRP_BB",
                                                      "QOS_GRP_BB_MIN",
                                                      "QOS_GRP_BB_RUN_MIN",
                                                      "QOS_MAX_BB_PER_JOB",
                                                      "QOS_MAX_BB_PER_NODE",
                                                      "QOS_MAX_BB_PER_USER",
                                                      "QOS_MAX_BB_MINS_PER_JOB",
                                                      "QOS_MIN_BB",
                                                      "FAIL_DEADLINE",
                                                      "QOS_MAX_BB_PER_ACCT",
                                                      "QOS_MAX_CPU_PER_ACCT",
                                                      "QOS_MAX_ENERGY_PER_ACCT",
                                                      "QOS_MAX_GRES_PER_ACCT",
                                                      "QOS_MAX_NODE_PER_ACCT",
                                                      "QOS_MAX_LIC_PER_ACCT",
                                                      "QOS_MAX_MEM_PER_ACCT",
                                                      "QOS_MAX_UNK_PER_ACCT",
                                                      "QOS_MAX_JOB_PER_ACCT",
                                                      "QOS_MAX_SUB_JOB_PER_ACCT",
                                                      "PART_CONFIG",
                                                      "ACCOUNT_POLICY",
                                                      "FED_JOB_LOCK",
                                                      "FAIL_OOM",
                                                      "PN_MEM_LIMIT",
                                                      "ASSOC_GRP_BILLING",
                                                      "ASSOC_GRP_BILLING_MIN",
                                                      "ASSOC_GRP_BILLING_RUN_MIN",
                                                      "ASSOC_MAX_BILLING_PER_JOB",
                                                      "ASSOC_MAX_BILLING_PER_NODE",
                                                      "ASSOC_MAX_BILLING_MINS_PER_JOB",
                                                      "QOS_GRP_BILLING",
                                                      "QOS_GRP_BILLING_MIN",
                                                      "QOS_GRP_BILLING_RUN_MIN",
                                                      "QOS_MAX_BILLING_PER_JOB",
                                                      "QOS_MAX_BILLING_PER_NODE",
                                                      "QOS_MAX_BILLING_PER_USER",
                                                      "QOS_MAX_BILLING_MINS_PER_JOB",
                                                      "QOS_MAX_BILLING_PER_ACCT",
                                                      "QOS_MIN_BILLING",
                                                      "RESV_DELETED"};

constexpr const char* kRelease = "look at its node and its output, then scontrol release JOB";
constexpr const char* kAsk = "ask the administrators";
constexpr const char* kWait = "wait until other jobs end, or ask for a higher limit";
constexpr const char* kPartition = "ask the administrators, or name another slurm.partition";
constexpr const char* kNever = "look at slurm.nodes, ranks_per_node, cpus_per_rank, mem, gres, constraint and exclude";
constexpr const char* kFewer =
    "look at slurm.nodes, ranks_per_node, cpus_per_rank, mem, gres, constraint and exclude, then submit again";

/// What is no limit of an account or a quality of service.
const std::map<std::string_view, Reason>& single_reasons() {
  static const std::map<std::string_view, Reason> kReasons = {
      {"NO_REASON", {"", ""}},
      {"PRIORITY",
       {"waits behind jobs of higher priority", "wait, or ask for less: fewer nodes, a shorter slurm.time"}},
      {"DEPENDENCY", {std::string(kWaitsForOthers), ""}},
      {"RESOURCES", {"waits for free nodes", ""}},
      {"PART_NODE_LIMIT",
       {"asks for more nodes than the partition gives a job", "lower slurm.nodes, then cancel and resume"}},
      {"PART_TIME_LIMIT", {"asks for more time than the partition allows", "lower slurm.time, then cancel and resume"}},
      {"PART_DOWN", {"the partition is down", kPartition}},
      {"PART_INACTIVE", {"the partition is inactive", kPartition}},
      {"PART_CONFIG",
       {"the partition's limits do not allow it",
        "look at slurm.partition, nodes and time (scontrol show partition), then cancel and resume"}},
      {"HELD", {"held by an administrator", "ask one; as one, scontrol release JOB lets it start"}},
      {"HELD_USER", {"held by its user", "scontrol release JOB lets it start"}},
      {"TIME", {"its start time has not come", ""}},
      {"LICENSES", {"waits for licenses", ""}},
      {"ASSOC_JOB_LIMIT", {"the account's limit on jobs is reached", kWait}},
      {"ASSOC_RESOURCE_LIMIT", {"the account's limit on resources is reached", kWait}},
      {"ASSOC_TIME_LIMIT", {"asks for more time than the account has", "lower slurm.time, then cancel and resume"}},
      {"QOS_THRES", {"its quality of service is below its threshold", kAsk}},
      {"QOS_JOB_LIMIT", {"the limit on jobs of its quality of service is reached", kWait}},
      {"QOS_RESOURCE_LIMIT", {"the limit on resources of its quality of service is reached", kWait}},
      {"QOS_TIME_LIMIT",
       {"asks for more time than its quality of service has", "lower slurm.time, then cancel and resume"}},
      {"QOS", {"its quality of service is not to be had", "look at slurm.qos"}},
      {"ACCOUNT", {"its account may not run here", "look at slurm.account"}},
      {"ACCOUNT_POLICY",
       {"a limit of its account or quality of service forbids it",
        "look at slurm.account and slurm.qos, or ask for a higher limit"}},
      {"RESERVATION", {"waits for its reservation", ""}},
      {"RESV_DELETED", {"its reservation was deleted", "drop slurm.reservation, then cancel and resume"}},
      {"NODE_NOT_AVAIL",
       {"a node it needs is down, drained or reserved", "sinfo -R says why; drop slurm.reservation or a node list"}},
      {"FRONT_END", {"the front end nodes are down", kAsk}},
      {"BLOCK_MAX_ERR", {"its block has too many failed nodes", kAsk}},
      {"BLOCK_D_ACTION", {"its block is being freed", ""}},
      {"CLEANING", {"its earlier attempt is still being cleaned up", ""}},
      {"PROLOG", {"the prolog of its nodes runs", ""}},
      {"DEP_INVALID", {"its dependency can never be satisfied", "cancel and resume"}},
      {"MAX_REQUEUE", {"was requeued as often as the site allows", "cancel and resume"}},
      {"ARRAY_TASK_LIMIT", {"the array's throttle is reached", "raise slurm.throttle for more at once"}},
      {"BURST_BUFFER_RESOURCE", {"waits for room in the burst buffer", ""}},
      {"BURST_BUFFER_STAGING", {"its burst buffer is being filled", ""}},
      {"POWER_NOT_AVAIL", {"waits for electric power", ""}},
      {"POWER_RESERVED", {"waits for electric power, which others have reserved", ""}},
      {"FED_JOB_LOCK", {"waits for another cluster of the federation", ""}},
      {"PN_MEM_LIMIT",
       {"asks for more memory than the partition gives a node or CPU", "lower slurm.mem, then cancel and resume"}},
      {"FAIL_DEFER", {"its first scheduling was put off", ""}},
      {"FAIL_DOWN_PARTITION", {"the partition was down", kPartition}},
      {"FAIL_DOWN_NODE", {"a node of it failed", "resume"}},
      {"FAIL_BAD_CONSTRAINTS", {"no node can ever fulfil what it asks for", kFewer}},
      {"FAIL_SYSTEM", {"Slurm failed", kAsk}},
      {"FAIL_LAUNCH", {"could not be launched", "ask the administrators: slurmd's log on its node says why"}},
      {"FAIL_EXIT_CODE", {"its command failed", ""}},
      {"FAIL_TIMEOUT", {"reached its time limit", "resume; raise slurm.time where this is often"}},
      {"FAIL_INACTIVE_LIMIT", {"was inactive for too long", kAsk}},
      {"FAIL_ACCOUNT", {"its account is not valid", "look at slurm.account"}},
      {"FAIL_QOS", {"its quality of service is not valid", "look at slurm.qos"}},
      {"FAIL_BURST_BUFFER_OP", {"its burst buffer failed", kAsk}},
      {"FAIL_DEADLINE", {"reached its deadline", "resume"}},
      {"FAIL_OOM", {"ran out of memory", "raise slurm.mem, then resume"}}};
  return kReasons;
}

struct Thing {
  std::string_view token, words, key;  ///< key: of the grid's slurm section
};

/// What a limit counts. Longer tokens that begin alike come first.
constexpr std::array<Thing, 12> kThings = {{{"BILLING", "billing units", ""},
                                            {"BB", "burst buffer", ""},
                                            {"CPU", "CPUs", "slurm.cpus_per_rank or ranks_per_node"},
                                            {"MEM", "memory", "slurm.mem"},
                                            {"NODE", "nodes", "slurm.nodes"},
                                            {"ENERGY", "energy", ""},
                                            {"GRES", "devices", "slurm.gres"},
                                            {"LIC", "licenses", "the licenses of slurm.extra"},
                                            {"UNK", "some resource", ""},
                                            {"SUB_JOB", "submitted jobs", "slurm.shards"},
                                            {"JOB", "jobs", ""},
                                            {"WALL", "time", "slurm.time"}}};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool take(std::string_view& text, std::string_view front) {
  if (text.substr(0, front.size()) != front) return false;
  text.remove_prefix(front.size());
  return true;
}

/// "QOS_MAX_CPU_MINS_PER_JOB" in words: the names of these limits are built from parts.
Reason limit_reason(std::string_view name) {
  const bool qos = take(name, "QOS_");
  if (!qos) take(name, "ASSOC_");
  const bool least = take(name, "MIN_"), most = !least && take(name, "MAX_");
  if (!least && !most) take(name, "GRP_");
  Thing thing;
  for (const auto& known : kThings) {
    if (thing.token.empty() && take(name, known.token)) thing = known;
  }
  const auto owner = qos ? "quality of service" : "account";
  const auto key = thing.key.empty() ? std::string_view("the grid's slurm section") : thing.key;
  if (least)
    return {fmt::format("asks for less than the least {} of its {}", thing.words, owner),
            fmt::format("raise {}, then cancel and resume", key)};
  const auto what = fmt::format("{}{}", has(name, "MIN") ? "minutes of " : "", thing.words);
  for (const auto& [token, per] : {std::pair{"PER_JOB", "a job"}, std::pair{"PER_NODE", "a node"}}) {
    if (most && (has(name, token) || (thing.token == "WALL" && name.empty()))) {
      return {fmt::format("asks for more {} {} than its {} allows", what, per, owner),
              fmt::format("lower {}, then cancel and resume", key)};
    }
  }
  const auto whose = has(name, "PER_USER") ? " a user" : has(name, "PER_ACCT") ? " an account" : "";
  return {fmt::format("the limit on {}{} of its {} is reached", what, whose, owner), kWait};
}

}  // namespace

Reason reason_of(std::uint32_t number, std::string_view description) {
  if (number < kNames.size()) {
    // Whoever holds a job by hand leaves no words; Slurm says why it did, and calls it the user's all the same.
    if (!description.empty() && (kNames[number] == "HELD" || kNames[number] == "HELD_USER"))
      return {fmt::format("held by Slurm: {}", description), kRelease};
    const auto known = single_reasons().find(kNames[number]);
    return known != single_reasons().end() ? known->second : limit_reason(kNames[number]);
  }
  return {description.empty() ? fmt::format("Slurm's reason {}", number)
                              : fmt::format("Slurm says '{}' (reason {})", description, number),
          "squeue -j JOB -o %r names it"};
}

/// Numbers of slurm_errno.h, 22.05; they stand in messages between releases.
std::string_view advice_for_error(int error) {
  switch (error) {
    case 2000:
      return "look at slurm.partition";
    case 2014:
    case 2015:
      return kNever;
    case 2029:
      return "look at slurm.constraint";
    case 2045:
      return "look at slurm.account";
    case 2051:
      return "lower slurm.time";
    case 2066:
      return "look at slurm.qos";
    case 2072:
      return "look at slurm.gres";
    case 2052:
    case 2053:
      return "look at slurm.reservation";
    case 2018:
      return "look at slurm.exclude and at --nodelist in slurm.extra";
    default:
      return "`nkigrid doctor` looks at the controller";
  }
}

}  // namespace nkigrid::slurm
