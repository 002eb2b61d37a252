// The only file that includes slurm.h. Built as a plugin. Uses calls whose signatures are the same from 22.05 on:
// slurm_init, init_job_desc_msg, submit_batch_job, job_will_run2, load_jobs, kill_job2, update_job2, load_ctl_conf;
// where a call changed, a guard says since when.
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "slurm/array_text.hpp"
#include "slurm/plugin.hpp"
#include "slurm/reasons.hpp"
#include "slurm/request_parts.hpp"

namespace nkigrid::slurm {
namespace {

/// Tries after which a controller that says "again" is given up; waits double from kFirstWait.
constexpr int kTries = 5;
constexpr std::chrono::milliseconds kFirstWait{200};
constexpr int kLooks = 16;  ///< at a doubtful job, kFirstWait apart: a scheduler looks within 3 s

/// @param said what libslurm printed about it, e.g. the name of a limit; "": nothing
[[noreturn]] void fail(std::string_view doing, int error, const std::string& said = {}) {
  throw Error(ErrorCode::external, fmt::format("Slurm cannot {}: {} (error {}{}{}); {}", doing, slurm_strerror(error),
                                               error, said.empty() ? "" : ", ", said, advice_for_error(error)));
}

/// The response's job id moved into step_id in 25.11.
std::uint32_t job_id_of(const submit_response_msg_t& response) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
  return response.step_id.job_id;
#else
  return response.job_id;
#endif
}

void free_conf(slurm_conf_t* conf) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
  slurm_free_conf(conf);
#else
  slurm_free_ctl_conf(conf);
#endif
}

/// The controller could not keep the job's script or environment for now. Gone in 26.05, whose number means something
/// else.
bool could_not_copy(int error) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
  return static_cast<void>(error), false;
#else
  return error == ESLURM_ERROR_ON_DESC_TO_RECORD_COPY;
#endif
}

/// MaxJobCount is reached: said by "again" until 26.05 gave it a number of its own.
bool has_no_room(int error) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
  return error == EAGAIN || error == ESLURM_MAX_JOB_COUNT;
#else
  return error == EAGAIN;
#endif
}

std::string state_text(std::uint32_t state) {
  static const std::map<std::uint32_t, const char*> kNames = {
      {JOB_PENDING, "PENDING"},     {JOB_RUNNING, "RUNNING"},     {JOB_SUSPENDED, "SUSPENDED"},
      {JOB_COMPLETE, "COMPLETED"},  {JOB_CANCELLED, "CANCELLED"}, {JOB_FAILED, "FAILED"},
      {JOB_TIMEOUT, "TIMEOUT"},     {JOB_NODE_FAIL, "NODE_FAIL"}, {JOB_PREEMPTED, "PREEMPTED"},
      {JOB_BOOT_FAIL, "BOOT_FAIL"}, {JOB_DEADLINE, "DEADLINE"},   {JOB_OOM, "OUT_OF_MEMORY"}};
  const auto base = state & JOB_STATE_BASE;
  // A requeued job completes first, too: it is pending all the same.
  if ((state & JOB_COMPLETING) != 0 && base != JOB_PENDING) return "COMPLETING";
  const auto found = kNames.find(base);
  return found == kNames.end() ? fmt::format("UNKNOWN({})", base) : found->second;
}

std::string text(const char* s) { return s == nullptr ? std::string() : std::string(s); }

constexpr std::uint32_t kNoReason = 0, kExitCode = 24;  // enum job_state_reason

/// Why a job waits, or how it failed.
void explain(const slurm_job_info_t& record, JobState& state) {
  const auto base = record.job_state & JOB_STATE_BASE;
  const bool failed = base > JOB_COMPLETE && base != JOB_CANCELLED;
  if (base != JOB_PENDING && !failed) return;
  const int status = static_cast<int>(record.exit_code);
  // A script that somebody kills is "launch failed" to Slurm, too.
  if (failed && record.state_reason == kLaunchReason && WIFSIGNALED(status) && record.end_time > record.start_time) {
    state.reason = fmt::format("killed by signal {}", WTERMSIG(status));
    return;
  }
  auto reason = reason_of(record.state_reason, text(record.state_desc));
  state.reason = std::move(reason.words);
  state.advice = std::move(reason.advice);
  // Of a job that never began, the exit code is Slurm's invention.
  if (!failed || record.exit_code == 0 || (record.state_reason != kNoReason && record.state_reason != kExitCode))
    return;
  const auto end = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                       : fmt::format("exit code {}", WEXITSTATUS(status));
  state.reason += fmt::format("{}{}", state.reason.empty() ? "" : ", ", end);
}

bool is_away(const node_info_t& node) {
  return (node.node_state & NODE_STATE_BASE) == NODE_STATE_DOWN || (node.node_state & NODE_STATE_DRAIN) != 0;
}

/// The nodes of a partition, which lists them as pairs of places in the node table, -1 at the end.
std::vector<Partition::Node> nodes_of(const partition_info_t& partition, const node_info_msg_t& table) {
  std::vector<Partition::Node> nodes;
  const auto* range = partition.node_inx;
  for (; range != nullptr && *range >= 0; range += 2) {
    for (auto i = static_cast<std::uint32_t>(range[0]);
         i <= static_cast<std::uint32_t>(range[1]) && i < table.record_count; ++i) {
      const auto& node = table.node_array[i];
      if (node.name != nullptr) nodes.push_back({node.name, node.cpus, node.real_memory, is_away(node)});
    }
  }
  return nodes;
}

/// Owns the mutable strings that libslurm's C structs point to.
class Strings {
 public:
  char* hold(const std::string& s) {
    if (s.empty()) return nullptr;
    return held_.emplace_back(std::make_unique<std::string>(s))->data();
  }
  char** hold(const std::vector<std::string>& list) {
    for (const auto& entry : list) pointers_.push_back(hold(entry));
    return pointers_.data();
  }

 private:
  std::vector<std::unique_ptr<std::string>> held_;
  std::vector<char*> pointers_;  ///< of one list
};

/// libslurm prints some refusals itself, before its call returns: taken, they go into our message. One thread only.
class StderrTaken {
 public:
  StderrTaken() : taken_(::memfd_create("stderr", MFD_CLOEXEC)), before_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
    if (taken_ >= 0 && before_ >= 0) ::dup2(taken_, STDERR_FILENO);
  }
  ~StderrTaken() {
    if (taken_ >= 0 && before_ >= 0) ::dup2(before_, STDERR_FILENO);
    if (taken_ >= 0) ::close(taken_);
    if (before_ >= 0) ::close(before_);
  }
  StderrTaken(const StderrTaken&) = delete;
  StderrTaken& operator=(const StderrTaken&) = delete;

  /// The first line that was printed, without "nkigrid: error: "; "" when there was none.
  std::string words() const {
    char text[512];
    const auto got = taken_ < 0 ? 0 : ::pread(taken_, text, sizeof text, 0);
    const std::string all(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    const auto line = all.substr(0, all.find('\n'));
    constexpr std::string_view kError = "error: ";
    const auto at = line.find(kError);
    return at == std::string::npos ? line : line.substr(at + kError.size());
  }

 private:
  int taken_, before_;
};

/// Options that slurm.extra may name and libslurm takes; what is not here is refused, never dropped.
void apply_extra(job_desc_msg_t& job, const std::string& line, Strings& strings) {
  const auto equals = std::min(line.find_first_of("= "), line.size());
  const auto name = line.substr(0, equals);
  const auto value = equals < line.size() ? line.substr(equals + 1) : std::string();
  const std::map<std::string, std::function<void()>> known = {
      {"--exclusive", [&] { job.shared = 0; }},
      {"--no-requeue", [&] { job.requeue = 0; }},
      {"--hold", [&] { job.priority = 0; }},
      {"--nice",  // the grid's reader has looked at the number
       [&] { job.nice = static_cast<std::uint32_t>(NICE_OFFSET + std::atol(value.empty() ? "100" : value.c_str())); }},
      {"--nodelist", [&] { job.req_nodes = strings.hold(value); }},
      {"--licenses", [&] { job.licenses = strings.hold(value); }},
      {"--wckey", [&] { job.wckey = strings.hold(value); }},
      {"--network", [&] { job.network = strings.hold(value); }}};
  const auto found = known.find(name);
  if (found == known.end()) {
    std::string names;
    for (const auto& [option, apply] : known) names += (names.empty() ? "" : ", ") + option;
    throw Error(
        ErrorCode::config,
        fmt::format(
            "slurm.extra '{}' cannot be sent through libslurm (legal: {}); leave it out, or send the scripts of "
            "`submit --dry-run` with sbatch",
            line, names));
  }
  found->second();
}

void fill_resources(job_desc_msg_t& job, const JobRequest& request, Strings& strings) {
  const auto& r = request.resources;
  job.partition = strings.hold(r.partition);
  job.account = strings.hold(r.account);
  job.qos = strings.hold(r.qos);
  job.features = strings.hold(r.constraint);
  job.reservation = strings.hold(r.reservation);
  job.exc_nodes = strings.hold(r.exclude);
  if (!r.gres.empty()) job.tres_per_node = strings.hold("gres:" + r.gres);
  job.min_nodes = job.max_nodes = request.nodes;
  job.num_tasks = request.tasks;
  job.ntasks_per_node = static_cast<std::uint16_t>(request.tasks_per_node);
  job.cpus_per_task = static_cast<std::uint16_t>(request.cpus_per_task);
  job.min_cpus = request.tasks * request.cpus_per_task;
  job.time_limit = request.time_minutes;
  if (!r.mem.empty()) job.pn_min_memory = megabytes(r.mem);
  if (!r.mail_user.empty()) {
    job.mail_user = strings.hold(r.mail_user);
    job.mail_type = MAIL_JOB_END | MAIL_JOB_FAIL;
  }
  for (const auto& line : r.extra) apply_extra(job, line, strings);
}

/// What Slurm says beside an accepted job that waits for a node or partition to come back, or for its user (--hold):
/// `status` tells it.
bool may_pass(int error) {
  return error == ESLURM_NODE_NOT_AVAIL || error == ESLURM_JOB_HELD || error == ESLURM_PARTITION_DOWN ||
         error == ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE;
}

class LibslurmClient final : public Client {
 public:
  LibslurmClient() {
    // Else libslurm cuts the element list of a pending array at 64 characters, and living elements would look free.
    ::setenv("SLURM_BITSTR_LEN", "0", 1);
    slurm_init(nullptr);
  }
  ~LibslurmClient() override { slurm_fini(); }

  std::uint32_t submit(const JobRequest& request) override {
    Strings strings;
    job_desc_msg_t job;
    describe(job, request, strings);
    return send(job, request);
  }

  std::string try_out(const JobRequest& request) override {
    Strings strings;
    job_desc_msg_t job;
    describe(job, request, strings);
    // Slurm's header declares the answer and nothing that frees it; `doctor` asks once.
    will_run_response_msg_t* answer = nullptr;
    const StderrTaken said;
    errno = 0;
    if (slurm_job_will_run2(&job, &answer) == SLURM_SUCCESS) return {};
    const int error = errno;
    if (error == ESLURM_JOB_HELD) return {};
    if (!may_pass(error) && error != ESLURM_NODES_BUSY)
      fail(fmt::format("submit job '{}'", request.name), error, said.words());
    return fmt::format("{} (error {})", slurm_strerror(error), error);
  }

  std::vector<JobState> jobs(const std::string& comment_prefix) override {
    job_info_msg_t* message = nullptr;
    if (slurm_load_jobs(0, &message, SHOW_ALL) != SLURM_SUCCESS) fail("list jobs", errno);
    std::vector<JobState> found;
    for (std::uint32_t i = 0; i < message->record_count; ++i) {
      const auto& record = message->job_array[i];
      const auto comment = text(record.comment);
      if (comment.rfind(comment_prefix, 0) != 0) continue;
      JobState state;
      state.job = record.array_job_id != 0 ? record.array_job_id : record.job_id;
      if (record.array_job_id != 0 && record.array_task_id != NO_VAL) state.element = record.array_task_id;
      state.pending_elements = text(record.array_task_str);
      state.state = state_text(record.job_state);
      explain(record, state);
      state.submitted = static_cast<double>(record.submit_time);
      state.started = static_cast<double>(record.start_time);
      state.work_folder = text(record.work_dir);
      state.nodes = text(record.nodes);
      state.name = text(record.name);
      state.comment = comment;
      found.push_back(std::move(state));
    }
    slurm_free_job_info_msg(message);
    return found;
  }

  void cancel(std::uint32_t job) override {
    const auto id = std::to_string(job);
    if (slurm_kill_job2(id.c_str(), SIGKILL, 0, nullptr) == SLURM_SUCCESS) return;
    const int error = errno;
    if (error != ESLURM_INVALID_JOB_ID && error != ESLURM_ALREADY_DONE) fail(fmt::format("cancel job {}", job), error);
  }

  void leave_out(std::uint32_t array, const std::string& nodes) override {
    Strings strings;
    job_desc_msg_t change;
    slurm_init_job_desc_msg(&change);
    change.job_id_str = strings.hold(std::to_string(array));
    change.exc_nodes = strings.hold(nodes);
    job_array_resp_msg_t* answers = nullptr;
    const int error = slurm_update_job2(&change, &answers) == SLURM_SUCCESS ? 0 : errno;
    slurm_free_job_array_resp(answers);
    // Elements that run already cannot leave their node, and say so.
    if (error != 0 && error != ESLURM_JOB_NOT_PENDING) fail(fmt::format("change array {}", array), error);
  }

  Limits limits() override {
    slurm_conf_t* conf = nullptr;
    if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS) fail("read the controller's limits", errno);
    Limits limits{.max_array_size = conf->max_array_sz, .max_job_count = conf->max_job_cnt, .max_array_tasks = 0};
    constexpr std::string_view kTasks = "max_array_tasks=";
    const auto parameters = text(conf->sched_params);
    if (const auto at = parameters.find(kTasks); at != std::string::npos) {
      limits.max_array_tasks =
          static_cast<std::uint32_t>(std::strtoul(parameters.c_str() + at + kTasks.size(), nullptr, 10));
    }
    free_conf(conf);
    return limits;
  }

  std::uint32_t jobs_in_use() override {
    job_info_msg_t* message = nullptr;
    if (slurm_load_jobs(0, &message, SHOW_ALL) != SLURM_SUCCESS) fail("count jobs", errno);
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < message->record_count; ++i) {
      const auto& record = message->job_array[i];
      const bool whole_array = record.array_job_id != 0 && record.array_task_id == NO_VAL;
      count += whole_array ? count_elements(text(record.array_task_str)) : 1;
    }
    slurm_free_job_info_msg(message);
    return count;
  }

  std::vector<Partition> partitions() override {
    partition_info_msg_t* message = nullptr;
    if (slurm_load_partitions(0, &message, SHOW_ALL) != SLURM_SUCCESS) fail("list partitions", errno);
    node_info_msg_t* table = nullptr;
    if (slurm_load_node(0, &table, SHOW_ALL) != SLURM_SUCCESS)
      table = nullptr;  // a site may hide them: sizes are left unchecked
    std::vector<Partition> found;
    for (std::uint32_t i = 0; i < message->record_count; ++i) {
      const auto& record = message->partition_array[i];
      found.push_back({.name = text(record.name),
                       .max_minutes = record.max_time == INFINITE ? 0 : record.max_time,
                       .nodes = record.total_nodes,
                       .up = record.state_up == PARTITION_UP,
                       .is_default = (record.flags & PART_FLAG_DEFAULT) != 0,
                       .sizes = table == nullptr ? std::vector<Partition::Node>() : nodes_of(record, *table)});
    }
    slurm_free_node_info_msg(table);
    slurm_free_partition_info_msg(message);
    return found;
  }

  std::string version() override {
    return fmt::format("{}.{:02}.{}", SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
                       SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER), SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER));
  }

  long seconds_left(std::uint32_t job) override {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
    slurm_step_id_t id = {};
    id.job_id = job;
    id.step_id = id.step_het_comp = NO_VAL;
    return slurm_get_rem_time(id);
#else
    return slurm_get_rem_time(job);
#endif
  }

 private:
  /// `strings` owns what `job` points to.
  static void describe(job_desc_msg_t& job, const JobRequest& request, Strings& strings) {
    slurm_init_job_desc_msg(&job);
    job.name = strings.hold(request.name);
    job.comment = strings.hold(request.comment);
    job.script = strings.hold(request.script);
    job.work_dir = strings.hold(request.work_folder);
    job.std_out = job.std_err = strings.hold(request.output);
    job.std_in = strings.hold("/dev/null");
    job.array_inx = strings.hold(request.array);
    job.dependency = strings.hold(request.dependency);
    job.user_id = ::getuid();
    job.group_id = ::getgid();
    job.open_mode = OPEN_MODE_APPEND;  // a requeued element must not wipe its log
    job.requeue = 1;
    fill_resources(job, request, strings);
    if (request.warn_seconds > 0) {
      job.warn_signal = SIGUSR1;
      job.warn_time = static_cast<std::uint16_t>(request.warn_seconds);
      job.warn_flags = KILL_JOB_BATCH;
    }
    const auto environment = submit_environment(request);
    job.environment = strings.hold(environment);
    job.env_size = static_cast<std::uint32_t>(environment.size());
  }

  /// Slurm says the same of nodes that are away and of nodes that do not exist; the latter's job fails when the
  /// scheduler first looks at it.
  bool fails_soon(const JobRequest& request, int error) {
    const auto has_failed = [](const JobState& job) { return job.state == "FAILED"; };
    for (int look = error == ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE ? kLooks : 1;;) {
      const auto known = jobs(request.comment);
      if (std::any_of(known.begin(), known.end(), has_failed)) return true;
      if (--look == 0) return false;
      std::this_thread::sleep_for(kFirstWait);
    }
  }

  /// One job in the end: a call whose answer is doubtful is looked up by its comment before it is made again.
  std::uint32_t send(job_desc_msg_t& job, const JobRequest& request) {
    auto wait = kFirstWait;
    for (int attempt = 1;; ++attempt, wait *= 2) {
      submit_response_msg_t* response = nullptr;
      int rc = SLURM_SUCCESS, error = 0;
      std::string said;
      {
        const StderrTaken taken;
        errno = 0;
        rc = slurm_submit_batch_job(&job, &response);
        error = rc == SLURM_SUCCESS ? 0 : errno;
        said = taken.words();
      }
      std::uint32_t id = 0;
      if (response != nullptr) {
        id = job_id_of(*response);
        if (error == 0) error = static_cast<int>(response->error_code);
        slurm_free_submit_response_response_msg(response);
      } else if (error == 0) {
        error = SLURM_UNEXPECTED_MSG_ERROR;
      }
      if (error == 0 || (id != 0 && may_pass(error) && !fails_soon(request, error))) return id;
      if (rc == SLURM_SUCCESS && id != 0) {
        cancel(id);  // accepted, but it can never start ("impossible request"): do not leave it pending for ever
        fail(fmt::format("start job '{}' as asked", request.name), error, said);
      }
      for (const auto& known : jobs(request.comment)) {
        if (is_of(known, request)) return known.job;
      }
      const bool again = has_no_room(error) || error == ESLURM_NODES_BUSY || could_not_copy(error) ||
                         error == SLURM_COMMUNICATIONS_CONNECTION_ERROR ||
                         error == SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT || error == SLURM_UNEXPECTED_MSG_ERROR;
      if (has_no_room(error) && attempt == kTries) {
        throw Error(
            ErrorCode::external,
            fmt::format(
                "Slurm has no room for job '{}' (MaxJobCount is reached); `resume` when other jobs have ended, or "
                "use fewer slurm.shards",
                request.name));
      }
      if (!again || attempt == kTries) fail(fmt::format("submit job '{}'", request.name), error, said);
      std::this_thread::sleep_for(wait);
    }
  }
};

}  // namespace
}  // namespace nkigrid::slurm

extern "C" __attribute__((visibility("default"))) nkigrid::slurm::Client* nkigrid_slurm_client() {
  return new nkigrid::slurm::LibslurmClient();
}
