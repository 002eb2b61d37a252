#include "slurm/allocation.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "slurm/connect.hpp"
#include "slurm/living.hpp"
#include "slurm/submissions.hpp"

namespace nkigrid::slurm {
namespace {

double unix_now() { return SystemClock().unix_seconds(); }

/// 0: in no allocation.
std::uint32_t this_job(const char* variable = "SLURM_JOB_ID") {
  const char* job = std::getenv(variable);
  return job == nullptr ? 0 : static_cast<std::uint32_t>(std::strtoul(job, nullptr, 10));
}

/// @returns [s]; negative: no limit, or unknown @throws Error{external}
long seconds_left(std::uint32_t job, Onlooker onlooker) {
  return std::atol(
      ask_in_child([job](Client& client) { return std::to_string(client.seconds_left(job)); }, onlooker).c_str());
}

/// The child of an AllocationWatch: an end, or 0, for each byte that it reads. A fresh grandchild asks: libslurm keeps
/// an answer for a minute.
[[noreturn]] void serve(int questions, int answers, pid_t parent, std::uint32_t job) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) std::_Exit(0);
  ::prctl(PR_SET_NAME, "nkigrid_end");
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGPIPE}) std::signal(signal, SIG_IGN);  // those are for the rank
  char question;
  for (;;) {
    const auto got = ::read(questions, &question, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1) std::_Exit(0);
    double end = 0;
    try {
      if (const auto left = seconds_left(job, Onlooker::nobody); left >= 0)
        end = unix_now() + static_cast<double>(left);
    } catch (const std::exception&) {
      // The controller is away: what was known last stands.
    }
    if (::write(answers, &end, sizeof end) != sizeof end) std::_Exit(0);
  }
}

}  // namespace

std::optional<ShardId> array_element() {
  const char* element = std::getenv("SLURM_ARRAY_TASK_ID");
  if (element == nullptr || *element == '\0') return std::nullopt;
  char* end = nullptr;
  const auto number = std::strtoul(element, &end, 10);
  if (*end != '\0')
    throw Error(ErrorCode::usage, fmt::format("SLURM_ARRAY_TASK_ID '{}' is no shard number; give --shard", element));
  return ShardId{static_cast<std::uint32_t>(number)};
}

std::optional<double> allocation_end(Seconds asked) {
  if (const char* end = std::getenv("SLURM_JOB_END_TIME"); end != nullptr && std::atof(end) > 0) return std::atof(end);
  const auto job = this_job();
  if (job == 0) return std::nullopt;
  try {
    if (const auto left = seconds_left(job, Onlooker::user); left >= 0) return unix_now() + static_cast<double>(left);
  } catch (const Error& error) {
    warn("the time left is taken from the grid: {}", error.what());
  }
  return unix_now() + asked.count();
}

void leave_out_of_waiting(const std::string& nodes) {
  const auto array = this_job("SLURM_ARRAY_JOB_ID");
  if (array == 0) return;
  ask_in_child([&](Client& client) {
    client.leave_out(array, nodes);
    return std::string();
  });
}

std::optional<jobs::Others> others_of(const jobs::Run& run) {
  const auto array = this_job("SLURM_ARRAY_JOB_ID");
  const auto element = array_element();
  if (array == 0 || !element) return std::nullopt;
  using nlohmann::json;
  const auto answer = json::parse(ask_in_child([&](Client& client) {
    const auto others = others_of(run, known_jobs(run, client).jobs, array, element->value);
    return json{{"aggregation", others.aggregation}, {"waiting", others.waiting}, {"shards", others.shards}}.dump();
  }));
  return jobs::Others{answer.at("aggregation"), answer.at("waiting"), answer.at("shards")};
}

bool has_elements(const jobs::Run& run) {
  try {
    return ask_in_child(
               [&](Client& client) {
                 return std::string(living_of(run, known_jobs(run, client).jobs).arrays.empty() ? "none" : "some");
               },
               Onlooker::nobody) != "none";
  } catch (const Error&) {
    return true;  // the controller is away
  }
}

AllocationWatch::AllocationWatch() {
  const auto job = this_job();
  if (job == 0) return;
  int questions[2], answers[2];
  if (::pipe2(questions, O_CLOEXEC) != 0) throw_errno(errno, "make a pipe");
  Fd asked(questions[0]);
  questions_ = Fd(questions[1]);
  if (::pipe2(answers, O_CLOEXEC) != 0) throw_errno(errno, "make a pipe");
  answers_ = Fd(answers[0]);
  Fd answered(answers[1]);
  const auto parent = ::getpid();
  child_ = ::fork();
  if (child_ < 0) throw_errno(errno, "fork");
  if (child_ == 0) {
    questions_ = Fd();
    answers_ = Fd();
    serve(asked.get(), answered.get(), parent, job);
  }
  ::fcntl(questions_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(answers_.get(), F_SETFL, O_NONBLOCK);
}

AllocationWatch::~AllocationWatch() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void AllocationWatch::ask() {
  if (child_ < 0 || open_) return;
  open_ = ::write(questions_.get(), "?", 1) == 1;
}

std::optional<double> AllocationWatch::answer() {
  double end = 0;
  if (!open_ || ::read(answers_.get(), &end, sizeof end) != sizeof end) return std::nullopt;
  open_ = false;
  return end > 0 ? std::optional(end) : std::nullopt;
}

}  // namespace nkigrid::slurm
