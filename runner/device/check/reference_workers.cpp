#include "runner/device/check/reference_workers.hpp"

#include <signal.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "runner/proc/frame.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kStartSeconds = 60;
constexpr double kComputeSeconds = 900;
constexpr double kTellSeconds = 60;  // of a draw that takes so long those who wait for it are told
constexpr std::uint64_t kFolderLimitBytes = 8ULL << 30;

/// The answer to a request. @returns null when none came in time
json answer_of(ReferenceWorker& worker, const std::string& task) {
  if (worker.answers_within(kTellSeconds)) return worker.receive(kComputeSeconds);
  notice("a draw of the reference of task '{}' has taken {:.0f} s; it is ended after {:.0f} s", task, kTellSeconds,
         kComputeSeconds);
  return worker.receive(kComputeSeconds - kTellSeconds);
}

}  // namespace

// ------------------------------------------------------------------------------------------------------- one worker

ReferenceWorker::ReferenceWorker(const fs::path& program, const fs::path& folder, bool strict) {
  auto pair = proc::make_socket_pair(proc::SocketKind::stream);
  const std::array<proc::DescriptorMap, 1> descriptors = {{{pair.theirs.get(), 3}}};
  auto environment = proc::numeric_environment();
  environment.emplace_back("LANG=C.UTF-8");
  environment.emplace_back("PYTHONHASHSEED=0");
  process_ =
      proc::spawn({NKIGRID_PYTHON, "-s", "-B", program.native(), folder.native(), std::to_string(kFolderLimitBytes),
                   program.parent_path() / "libnkigrid_sandbox.so", strict ? "strict" : "relaxed"},
                  environment, descriptors, proc::Group::own_session);
  control_ = std::move(pair.ours);
}

ReferenceWorker::~ReferenceWorker() {
  control_ = Fd();
  try {
    if (!proc::wait_readable(process_.pidfd.get(), proc::deadline_after(1))) ::kill(process_.pid, SIGKILL);
    proc::reap(process_);
  } catch (const Error&) {
    // Nothing can be done for a worker that cannot be waited for.
  }
}

const std::string& ReferenceWorker::torch() {
  if (!torch_.empty()) return torch_;
  const auto hello = receive(kStartSeconds);
  if (hello.is_null()) throw Error(ErrorCode::external, "the reference worker did not start in time");
  torch_ = hello.value("torch", "");
  if (torch_.empty())
    throw Error(ErrorCode::external,
                "the reference worker finds no torch for " NKIGRID_PYTHON "; install python3-torch");
  return torch_;
}

json ReferenceWorker::open() {
  if (is_open_) return {{"ok", true}};
  ask({{"open", true}});
  auto reply = receive(kComputeSeconds);
  if (reply.is_null()) throw Error(ErrorCode::external, "the reference worker did not load torch in time");
  is_open_ = reply.value("ok", false);
  return reply;
}

void ReferenceWorker::ask(const json& request) {
  if (!proc::write_frame(control_.get(), request.dump(), {}, {}, proc::deadline_after(kStartSeconds)))
    throw Error(ErrorCode::external, "the reference worker stopped");
}

json ReferenceWorker::receive(double seconds) {
  const auto result = proc::read_frame(control_.get(), proc::deadline_after(seconds));
  if (result.end == proc::ReadEnd::late) return {};
  auto reply = json::parse(result.frame.head, nullptr, false);
  if (result.end != proc::ReadEnd::frame || !reply.is_object())
    throw Error(ErrorCode::external, "the reference worker stopped");
  return reply;
}

bool ReferenceWorker::answers_within(double seconds) const {
  return proc::wait_readable(control_.get(), proc::deadline_after(seconds));
}

void ReferenceWorker::stop() noexcept {
  try {
    ask({{"stop", true}});
  } catch (const std::exception&) {
    // It is gone: who waits for its answer sees that.
  }
}

// ------------------------------------------------------------------------------------------------------ the workers

ReferenceWorkers::ReferenceWorkers(std::function<std::unique_ptr<ReferenceWorker>()> start) : start_(std::move(start)) {
  idle_.push_back(start_());
}

json ReferenceWorkers::draw(const DrawQueue::Task& task, const json& request) {
  for (;;) {
    Loan loan(*this, task);
    auto reply = loan.use([&](ReferenceWorker& worker) {
      if (auto opened = worker.open(); !opened.value("ok", false)) return opened;
      worker.ask(request);
      loan.begun();
      return answer_of(worker, task.id);
    });
    if (reply.is_null()) {
      loan.lose();
      return {{"ok", false},
              {"of_task", true},
              {"error", fmt::format("its draws were not made in {:.0f} s", kComputeSeconds)}};
    }
    if (!reply.value("stopped", false)) return reply;
  }
}

void ReferenceWorkers::wait_for_place(DrawQueue::Draw draw) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto answer = queue_.ask(draw, Clock::now());
    if (!answer.words.empty()) notice("{}", answer.words);
    if (answer.may_begin) break;
    if (answer.stop) {
      if (const auto worker = asked_.find(*answer.stop); worker != asked_.end()) worker->second->stop();
    }
    changed_.wait_until(lock, answer.look_again);
  }
  changed_.notify_all();  // another is next
}

std::unique_ptr<ReferenceWorker> ReferenceWorkers::take_idle() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto worker = std::move(idle_.back());
      idle_.pop_back();
      return worker;
    }
  }
  return start_();
}

ReferenceWorkers::TaskTurn::TaskTurn(ReferenceWorkers& of, std::string task) : of_(of), task_(std::move(task)) {
  std::unique_lock lock(of_.mutex_);
  of_.changed_.wait(lock, [&] { return !of_.in_turn_.contains(task_); });
  if (const auto failed = of_.failed_.find(task_); failed != of_.failed_.end())
    throw Error(ErrorCode::external, failed->second);
  of_.in_turn_.insert(task_);
}

ReferenceWorkers::TaskTurn::~TaskTurn() {
  const std::lock_guard lock(of_.mutex_);
  of_.in_turn_.erase(task_);
  of_.changed_.notify_all();
}

void ReferenceWorkers::TaskTurn::fail(const std::string& words) const {
  const std::lock_guard lock(of_.mutex_);
  of_.failed_[task_] = words;
  throw Error(ErrorCode::external, words);
}

ReferenceWorkers::Loan::Loan(ReferenceWorkers& of, const DrawQueue::Task& task)
    : of_(of), draw_([&] {
        const std::lock_guard lock(of.mutex_);
        return of.queue_.join(task, Clock::now());
      }()) {
  try {
    of_.wait_for_place(draw_);
    worker_ = of_.take_idle();
  } catch (...) {
    give_back();
    throw;
  }
}

ReferenceWorkers::Loan::~Loan() { give_back(); }

void ReferenceWorkers::Loan::give_back() {
  const std::lock_guard lock(of_.mutex_);
  of_.asked_.erase(draw_);
  of_.queue_.leave(draw_, Clock::now());
  if (worker_) of_.idle_.push_back(std::move(worker_));
  of_.changed_.notify_all();
}

void ReferenceWorkers::Loan::begun() {
  const std::lock_guard lock(of_.mutex_);
  of_.asked_[draw_] = worker_.get();
  of_.queue_.begun(draw_, Clock::now());
  of_.changed_.notify_all();  // who waits learns when this one's turn is over
}

void ReferenceWorkers::Loan::lose() {
  {
    const std::lock_guard lock(of_.mutex_);
    of_.asked_.erase(draw_);
  }
  worker_.reset();
}

}  // namespace nkigrid::device
